package replica

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/prng/lowrank"
)

// matrices returns a plan with directions of rank 1 over matrices and vectors of 9000 parameters or
// more.
func matrices(more uint64) *plan.Plan {
	p := basePlan()
	p.Distribution = plan.LowRank
	p.Segments = []plan.Segment{
		{Name: "a", Len: 6000, Rows: 40, MuScale: 2},
		{Name: "b", Len: 7},
		{Name: "c", Len: 2993 + more - more%2993, Rows: 41, MuScale: 0.5, StepScale: 3},
	}
	for _, s := range p.Segments {
		p.Dim += s.Len
	}
	p.Dim--
	return p
}

// Probes of directions of rank 1 are x plus or minus mu times the direction that the naive replica
// makes, in whole vectors and in parts, of one direction and of all, for any number of workers.
func TestProbesOfLowRank(t *testing.T) {
	p := matrices(0)
	for _, workers := range []int{0, 3} {
		s := newScript(p)
		s.round(1)
		s.cfg.Workers = workers
		r := New(s.cfg)
		for _, b := range s.records {
			mustApply(t, r, b)
		}
		f, x := newNaive(s), r.Params()
		z := r.Directions(nil, 3, 1, 0, 3, prng.Slot(2))
		for q := range z {
			term := f.term(1, 3, 1, q, prng.Slot(2))
			plus, minus := make([]float32, len(x)), make([]float32, len(x))
			for i := range x {
				a := float32(0.25 * scaleOfMu(p, i))
				plus[i], minus[i] = x[i]+float32(a*term.z[i]), x[i]-float32(a*term.z[i])
			}
			for _, part := range [][2]int{{0, len(x)}, {5990, 6010}, {4096, 8192}, {17, 8999}} {
				got := make([]float32, part[1]-part[0])
				for mu, want := range map[float32][]float32{0.25: plus, -0.25: minus} {
					r.Perturb(got, x, part[0], mu, &z[q])
					if !slices.Equal(got, want[part[0]:part[1]]) {
						t.Errorf("direction %d, %v workers, mu %v, elements %v", q, workers, mu, part)
					}
				}
			}
			points := Points{X: x, Mu: 0.25, Z: z, Central: true}
			dst := make([][]float32, points.Len())
			dst[2*q], dst[2*q+1] = make([]float32, len(x)), make([]float32, len(x))
			r.PerturbAll(dst, 0, len(x), &points)
			if !slices.Equal(dst[2*q], plus) || !slices.Equal(dst[2*q+1], minus) {
				t.Errorf("direction %d, %v workers: PerturbAll", q, workers)
			}
		}
	}
}

func scaleOfMu(p *plan.Plan, i int) float32 {
	for _, s := range p.Layout() {
		if i < int(s.Len) {
			return s.MuScale
		}
		i -= int(s.Len)
	}
	return 1
}

// TestPartsOfLowRank: Fill and Dot are the direction of a probe, as an app that differentiates
// takes it.
func TestPartsOfLowRank(t *testing.T) {
	s := newScript(matrices(0))
	r := New(s.cfg)
	mustApply(t, r, s.records[0])
	d := r.Direction(2, 0, 1, prng.Shared)
	z, scale, coefs, _ := r.Parts(&d)
	want := newNaive(s).term(1, 2, 0, 1, prng.Shared).z
	got, g, product := make([]float32, 4096), make([]float32, 4096), 0.0
	r.Fill(got, z, 1)
	for i := range g {
		g[i] = s.random.float()
		product += float64(g[i]) * float64(want[4096+i])
	}
	if scale != 1 || len(coefs) > 0 || !slices.Equal(got, want[4096:8192]) {
		t.Errorf("scale %v, %d coefficients, or other elements", scale, len(coefs))
	}
	if dot := r.Dot(g, z, 1); math.Abs(dot-product) > 1e-6*math.Abs(product) {
		t.Errorf("product %v, want %v", dot, product)
	}
}

// Many pending moves come to the state that one record after another has, for any number of
// workers, and whether or not their signs fit the limit.
func TestBatchesOfLowRank(t *testing.T) {
	p := matrices(40 * 2993)
	p.Steps, p.Perturbations, p.Rule, p.Beta = 2, 9, plan.Momentum, 0.5
	s := newScript(p)
	for n := range uint64(6) {
		s.round(n + 1)
	}
	want := New(s.cfg)
	for _, b := range s.records {
		mustApply(t, want, b)
	}
	for _, test := range []struct{ workers, limit int }{
		{0, signBytes}, {3, signBytes}, {2, 50_000}, {0, 1}, {2, 1},
	} {
		t.Run(fmt.Sprint(test), func(t *testing.T) {
			s.cfg.Workers = test.workers
			r := New(s.cfg)
			mustApply(t, r, s.records[0])
			r.factors.limit = test.limit
			if _, err := r.ApplyAll(s.records[1:]); err != nil {
				t.Fatal(err)
			}
			if r.Digest() != want.Digest() {
				t.Error("another state")
			}
		})
	}
}

// Tiles whose rows are packed, and those that are where the vectors are, give the same bits to all
// vectors that rounds and local steps write or read.
func TestTilesOfLowRank(t *testing.T) {
	for _, change := range []func(p *plan.Plan){
		func(p *plan.Plan) {
			p.ServerRule, p.ServerBeta1, p.ServerBeta2 = plan.ServerNormalized, 0.5, 0.75
			p.ServerDecay, p.Perturbations = 0.25, 21
		},
		func(p *plan.Plan) {
			p.ServerRule, p.ServerStep, p.ServerBeta1, p.ServerBeta2 = plan.ServerAMSGrad, 0.5, 0.5, 0.75
			p.ServerEpsilon, p.ServerV0, p.Prox, p.WeightDecay, p.Steps = 1e-3, 1e-3, 0.25, 0.125, 2
		},
		func(p *plan.Plan) { p.Control, p.Rule, p.Beta = plan.ScaffoldMean, plan.TorchMomentum, 0.5 },
	} {
		p := matrices(0)
		change(p)
		s := newScript(p)
		for n := range uint64(3) {
			s.round(n + 1)
		}
		want := New(s.cfg)
		mustApply(t, want, s.records[0])
		f, at := want.factors, 0
		f.tiles = nil
		for _, s := range p.Layout() {
			f.tiles = append(f.tiles, lowrank.Tile{First: at, Rows: int(max(1, s.Rows)),
				Columns: int(s.Columns()), Stride: int(s.Columns())})
			at += int(s.Len)
		}
		want.generator.tile = at
		for _, b := range s.records[1:] {
			mustApply(t, want, b)
		}
		for _, workers := range []int{0, 3} {
			s.cfg.Workers = workers
			r := New(s.cfg)
			if _, err := r.ApplyAll(s.records); err != nil {
				t.Fatal(err)
			}
			if r.Digest() != want.Digest() {
				t.Errorf("%v, %d workers: another state", p.ServerRule, workers)
			}
			if p.ServerRule == plan.ServerNormalized {
				continue // no local steps
			}
			var local [2]Local
			for i, r := range []*Replica{want, r} {
				l := &local[i]
				l.X, l.M = slices.Clone(r.Params()), slices.Clone(r.Momentum())
				if p.Control != plan.NoControl {
					l.Correction = slices.Clone(r.Params())
				}
				r.Advance(l, 9, 1, []float32{0.5, -0.25, 2}, 0.125)
			}
			if !reflect.DeepEqual(local[0], local[1]) {
				t.Errorf("%v, %d workers: another local step", p.ServerRule, workers)
			}
		}
	}
}

// An estimate goes by ranges of blocks where its signs do not fit, also after a round by tiles.
func TestEstimateAfterTiles(t *testing.T) {
	s := newScript(matrices(20 * 2993))
	s.round(1)
	want, r := New(s.cfg), New(s.cfg)
	for _, b := range s.records {
		mustApply(t, want, b)
		mustApply(t, r, b)
	}
	g := []float32{s.random.float(), s.random.float()}
	v, got := make([]float32, s.plan.Dim), make([]float32, s.plan.Dim)
	want.Estimate(v, 3, 0, g, prng.Shared)
	r.factors.limit = 1
	if r.Estimate(got, 3, 0, g, prng.Shared); !slices.Equal(got, v) {
		t.Error("another estimate")
	}
}

// A round whose signs would take more than the limit makes them range by range. Its state has the
// bits of a round without a limit, for any number of workers, and the signs stay within the limit.
func TestRangesOfLowRank(t *testing.T) {
	p := matrices(20 * 2993)
	p.Steps, p.Perturbations, p.Rule, p.Beta = 2, 33, plan.TorchMomentum, 0.5
	p.Control, p.Segments[0].Rows = plan.ScaffoldMean, 2 // of rows of 3000
	s := newScript(p)
	for n := range uint64(3) {
		s.round(n + 1)
	}
	want := New(s.cfg)
	for _, b := range s.records {
		mustApply(t, want, b)
	}
	g := make([]float32, p.Perturbations)
	for i := range g {
		g[i] = s.random.float()
	}
	v, got := make([]float32, p.Dim), make([]float32, p.Dim)
	want.Estimate(v, 9, 1, g, prng.Slot(2))
	for _, limit := range []int{1, 30_000, 45_000} {
		for _, workers := range []int{0, 3} {
			s.cfg.Workers = workers
			r := New(s.cfg)
			mustApply(t, r, s.records[0])
			f, ranges := r.factors, 0
			f.limit = limit
			run := f.rangeTask
			f.rangeTask = func(worker, i int) {
				if i == 0 {
					ranges++
					n := f.part.Factors() + groupLen
					if f.groups*n > limit && n > prng.BlockLen+2*groupLen { // more than one task takes
						t.Errorf("limit %d: %d groups of %d bytes", limit, f.groups, n)
					}
				}
				run(worker, i)
			}
			for _, b := range s.records[1:] {
				mustApply(t, r, b)
			}
			if r.Digest() != want.Digest() {
				t.Errorf("limit %d, %d workers: another state", limit, workers)
			}
			if ranges <= len(s.records) {
				t.Errorf("limit %d: %d ranges", limit, ranges)
			}
			if r.Estimate(got, 9, 1, g, prng.Slot(2)); !slices.Equal(got, v) {
				t.Errorf("limit %d, %d workers: another estimate", limit, workers)
			}
		}
	}
}

// A replica remembers the signs of the directions of one step alone, however long a run is.
func TestSignsOfOneStep(t *testing.T) {
	s := newScript(matrices(0))
	s.round(1)
	r := New(s.cfg)
	for _, b := range s.records {
		mustApply(t, r, b)
	}
	x, dst := r.Params(), make([]float32, 10)
	for k := range 5 {
		z := r.Directions(nil, 3, k, 0, 3, prng.Shared)
		for q := range z {
			r.Perturb(dst, x, 0, 0.25, &z[q])
		}
		if n := len(r.factors.known); n != len(z) {
			t.Fatalf("step %d: the signs of %d directions, want those of %d", k, n, len(z))
		}
	}
}
