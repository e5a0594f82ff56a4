package replica

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

const cmaPlan = `{"dim":6,"perturbations":9,"difference":"none","mu":0,"server_rule":"cma",` +
	`"step":0.3}`

// evolutionRuns returns the golden runs of server_rule=cma.
func evolutionRuns(t *testing.T) []golden { return readGoldenFile(t, "testdata/evolution.txt") }

// TestCandidates: candidates of the next record are those that one element at a time gives, and
// within boxes none is outside. Candidate changes no state.
func TestCandidates(t *testing.T) {
	for _, g := range evolutionRuns(t) {
		s := scriptOf(t, g)
		r, f := New(s.cfg), (*naive)(nil)
		for i, record := range s.records {
			mustApply(t, r, record)
			if i == 0 {
				f = newNaive(s)
			} else if rec, err := wire.DecodeRecord(record); err == nil {
				f.round(rec.N, rec.Round)
			}
			before, got := r.Digest(), make([]float32, len(r.x))
			for _, k := range []int{0, int(s.plan.Perturbations) - 1} {
				r.Candidate(got, r.n+1, k)
				_, y := f.candidate(r.n+1, k)
				for i, v := range got {
					if want, _ := f.at(i, y[i]); v != want {
						t.Fatalf("%s: candidate %d of record %d has %v at %d, want %v", g.name, k, r.n+1, v, i,
							want)
					}
					if f.boxed(i, v) != v {
						t.Fatalf("%s: candidate %d has %v at %d, outside its box", g.name, k, v, i)
					}
				}
			}
			if r.Digest() != before || r.Sigma() != f.cma.sigma {
				t.Fatalf("%s: sigma %v, want %v, or another state", g.name, r.Sigma(), f.cma.sigma)
			}
		}
	}
}

// TestStepSetsSigma: a change that names step sets sigma, other changes do not; the losses of a
// record must be of the plan's step.
func TestStepSetsSigma(t *testing.T) {
	s := newScript(planOf(t, cmaPlan))
	for n := range uint64(3) {
		s.round(n + 1)
	}
	s.change("diverge", "2")
	s.change("step", "0.5")
	s.round(4)
	r := New(s.cfg)
	for i, record := range s.records {
		before := r.Sigma()
		err := r.Apply(record)
		switch {
		case i == 4 && r.Sigma() != before, i == 5 && r.Sigma() != 0.5, i == 1 && r.Sigma() == before:
			t.Errorf("record %d: sigma is %v, was %v", i+1, r.Sigma(), before)
		case (err != nil) != (i == 6):
			t.Errorf("record %d: %v", i+1, err)
		}
	}
}

// TestEvolutionRefuses: a round with too few or too many candidates, or another step, changes
// nothing.
func TestEvolutionRefuses(t *testing.T) {
	p := planOf(t, cmaPlan)
	c := newChain(p.Run)
	r := New(Config{Run: p.Run})
	mustApply(t, r, c.plan(p))
	before := r.Digest()
	for _, tt := range []struct {
		candidates uint32
		step       float32
		says       string
	}{
		{3, 0.3, "3 candidates, want 4 to 9"}, {10, 0.3, "10 candidates"}, {9, 0.25, "step 0.25"},
	} {
		random, fork := lcg(1), *c
		err := r.Apply(fork.round(1, tt.step, tt.candidates, random.scalars(int(tt.candidates))))
		if !errors.Is(err, wire.ErrValue) || !strings.Contains(err.Error(), tt.says) ||
			r.Digest() != before {
			t.Errorf("%+v: %v", tt, err)
		}
	}
	p.Restarts, p.PerturbationsAuto = 2, 1
	if got := p.MaxCandidates(); got != 9*64*4 {
		t.Errorf("%d candidates at most", got)
	}
	if p.Perturbations = 3000; p.MaxCandidates() != plan.MaxScalars {
		t.Errorf("%d candidates at most", p.MaxCandidates())
	}
}

// TestInfiniteLosses: candidates without a loss rank last, and the model stays finite.
func TestInfiniteLosses(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	states := map[[32]byte]bool{}
	for _, losses := range [][]float32{
		{5, 6, 0, 1, 2, 3, 4, inf, inf}, {5, 6, 0, 1, 2, 3, 4, nan, inf},
		{5, 6, 0, 1, 2, 3, 4, inf, nan}, {5, 6, 0, 1, 2, 3, 4, 7, 7},
	} {
		p := planOf(t, cmaPlan)
		c := newChain(p.Run)
		r := New(Config{Run: p.Run})
		mustApply(t, r, c.plan(p))
		r.evolution.Apply(r.address(2, 0, 0, 0), 9, losses)
		states[r.Digest()] = true
		for _, v := range r.x {
			if v-v != 0 {
				t.Errorf("%v: x is %v", losses, r.x)
			}
		}
	}
	if len(states) != 1 {
		t.Errorf("%d states of equal ranks", len(states))
	}
}
