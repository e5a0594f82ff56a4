package reference

import (
	"bytes"
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/preset"
)

const presetPlans = 3 // of each preset

var (
	combinations      = flag.Uint64("combinations", 128, "random plans to compare beside the presets")
	denseCombinations = flag.Uint64("combinations.dense", 64, "random plans besides whose devices send vectors")
)

// TestPresetsAgainstReference runs production clients and coordinator on each
// preset, at sizes drawn at random, and compares the model after each record
// with the reference.
func TestPresetsAgainstReference(t *testing.T) {
	for _, info := range preset.List() {
		for seed := range uint64(presetPlans) {
			t.Run(fmt.Sprint(info.Name, "/", seed), func(t *testing.T) {
				t.Parallel()
				against(t, presetPlan(t, info.Name, rand.New(rand.NewPCG(seed, 2))))
			})
		}
	}
}

// TestCombinationsAgainstReference does so with fields combined at random.
func TestCombinationsAgainstReference(t *testing.T) {
	for seed := range *combinations {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			against(t, combination(t, rand.New(rand.NewPCG(seed, 3))))
		})
	}
}

// TestDenseCombinationsAgainstReference does so with what vectors go with.
func TestDenseCombinationsAgainstReference(t *testing.T) {
	for seed := range *denseCombinations {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			against(t, denseCombination(t, rand.New(rand.NewPCG(seed, 5))))
		})
	}
}

// TestHalvesAgainstReference takes long steps in one dimension, where a client that
// moves along scalars that nobody else reads comes to other ones.
func TestHalvesAgainstReference(t *testing.T) {
	for seed := range uint64(8) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			p := presetPlan(t, "decomfl", rand.New(rand.NewPCG(seed, 4)))
			p.Dim, p.Steps, p.Perturbations, p.Step = 1, 4, 1, 2
			p.Distribution, p.Precision, p.MaxScalar = wire.Rademacher, wire.Half, 6e4
			against(t, p)
		})
	}
}

func against(t *testing.T, p *wire.Plan) {
	r := produce(t, p)
	if t.Failed() {
		return
	}
	r.agree(t)
	r.restore(t)
	if p.Estimator == wire.Surrogate {
		r.followSurrogate(t)
		return
	}
	r.follow(t)
}

// replica returns one before record 1.
func (r *run) replica(workers int) replica.Config {
	return replica.Config{Run: r.plan.Run, Dim: r.plan.Dim, RunKey: secret, Workers: workers}
}

// agree says whether all replicas have the same bits: those of the clients that
// contributed, of the one that joined when all was over, and of replays of the log.
func (r *run) agree(t *testing.T) {
	t.Helper()
	for _, workers := range []int{1, 3} {
		fresh := replica.New(r.replica(workers))
		if _, err := fresh.ApplyAll(r.records); err != nil {
			t.Fatalf("%v\nplan: %+v", err, r.plan)
		}
		r.complete(t, fresh)
		for i, digest := range r.digests {
			if digest != fresh.Digest() {
				t.Fatalf("the digest of client %d is not that of a replay with %d workers\nplan: %+v", i, workers, r.plan)
			}
		}
	}
}

// restore saves the state after each record, and applies the rest of the log to
// what was saved.
func (r *run) restore(t *testing.T) {
	t.Helper()
	at := replica.New(r.replica(1))
	for i, record := range r.records {
		if err := at.Apply(record); err != nil {
			t.Fatalf("%v\nplan: %+v", err, r.plan)
		}
		r.complete(t, at)
		var file bytes.Buffer
		if err := at.Save(&file, replica.History{}); err != nil {
			t.Fatal(err)
		}
		restored, _, err := replica.Load(r.replica(1), &file, int64(file.Len()))
		if err != nil {
			t.Fatalf("state after record %d: %v\nplan: %+v", i+1, err, r.plan)
		}
		if _, err := restored.ApplyAll(r.records[i+1:]); err != nil {
			t.Fatalf("restored after record %d: %v\nplan: %+v", i+1, err, r.plan)
		}
		r.complete(t, restored)
		if restored.Digest() != r.digests[0] {
			t.Fatalf("restored after record %d it comes to other bits\nplan: %+v", i+1, r.plan)
		}
	}
}

// follow compares the model after each round with the reference's.
func (r *run) follow(t *testing.T) {
	t.Helper()
	p, at := r.plan, replica.New(r.replica(1))
	fleet, d := fleetOf(p, r.slots)
	f := frameOf(p)
	r.origin = f.origin
	var s *State
	var start []float64
	var first *Round // of two phases
	for _, encoded := range r.records {
		record, err := wire.DecodeRecord(encoded)
		if err != nil {
			t.Fatal(err)
		}
		if err := at.Apply(encoded); err != nil {
			t.Fatal(err)
		}
		r.complete(t, at)
		switch {
		case record.Kind == wire.KindPlan:
			start = f.coordinates(at.Params())
			s, r.doubts = fleet.NewState(start), map[int]bool{}
		case record.Kind == wire.KindRound && record.Round.Phase == 1:
			first = contributors(p, r.slots, record.N, nil)
		case record.Kind == wire.KindRound:
			round := contributors(p, r.slots, record.N, named(p, record.Round))
			round.Point = first
			schedule(p, round, record.Round.Round)
			r.check(t, round, record.Round)
			second := clone(s.Server.V)
			fleet.Round(s, round)
			tolerance := single
			if d.doubtful || p.Precision == wire.Half && p.Control == wire.ScaffoldMean {
				tolerance = half
			}
			r.doubt(s, second, tolerance)
			r.compare(t, record.N, f.coordinates(at.Params()), s, start, tolerance)
		}
	}
	if s == nil || at.Rounds() != p.Rounds {
		t.Fatalf("%d rounds, want %d\nplan: %+v", at.Rounds(), p.Rounds, p)
	}
}

// schedule sets what a plan has for a round, counted from 1.
func schedule(p *wire.Plan, r *Round, number uint64) {
	r.R, r.P, r.Eta = int(number-1), int(p.Perturbations), float64(p.Step)
	for _, point := range p.StepSchedule {
		if point.Round <= number {
			r.Eta = float64(p.Step) * float64(point.Factor)
		}
	}
	if p.StepDecay == wire.InverseSqrt {
		r.Eta /= math.Sqrt(float64(number))
	}
	for _, point := range p.PerturbationSchedule {
		if point.Round <= number {
			r.P = int(point.Perturbations)
		}
	}
}

// check compares what a record says of its round.
func (r *run) check(t *testing.T, want *Round, got *wire.Round) {
	t.Helper()
	if int(got.Contributors) != len(want.Clients) || got.Contributors != r.plan.Target || int(got.Perturbations) != want.P ||
		math.Abs(float64(got.Step)-want.Eta) > 1e-6*want.Eta {
		t.Fatalf("round %d has %d contributors, P = %d and eta = %v, want %d, %d and %v\nplan: %+v", got.Round,
			got.Contributors, got.Perturbations, got.Step, len(want.Clients), want.P, want.Eta, r.plan)
	}
}

// Tolerances are the largest difference of a parameter next to the longest way of any
// from the start. Points x + mu z are float32, which costs a scalar about
// 2^-24 |x| / mu of itself, some 1e-6 here, and the rounds of a run add up. A scalar
// that travels as a half is rounded by up to 2^-11: where both sides round the same it
// makes no difference, but what is near the middle of two halves may become either;
// and the sum that scaffold-2 keeps adds what was rounded, the reference what was not.
const (
	single = 2e-5
	half   = 2e-3
	// ulps is what the iterates of a run lose next to the parameter itself: half an
	// ulp, 2^-25, a local step.
	ulps = 0x1p-21
)

// gain is how many times what is lost in a move comes out of the server rule.
func (r *run) gain() float64 {
	p := r.plan
	alpha := float64(p.ServerStep)
	switch p.ServerRule {
	case wire.ServerMean, wire.ServerSign:
		return 1
	case wire.ServerSGD:
		return max(1, alpha)
	case wire.ServerMomentum:
		return max(1, alpha/(1-float64(p.ServerBeta1)))
	}
	return max(1, alpha/math.Sqrt(float64(p.ServerEpsilon)))
}

func (r *run) compare(t *testing.T, n uint64, got []float64, s *State, start []float64, tolerance float64) {
	t.Helper()
	way, worst := 0.0, 0.0
	for i, want := range s.X {
		way = max(way, math.Abs(want-start[i]))
	}
	for i, want := range s.X {
		diff := math.Abs(got[i] - want)
		if r.doubts[i] && diff <= r.jump(way) {
			s.X[i] = got[i]
			continue
		}
		worst = max(worst, diff/way)
		parameter := max(math.Abs(want-r.origin[i]), math.Abs(start[i]-r.origin[i]))
		if !(diff <= tolerance*way+ulps*r.gain()*parameter) {
			t.Fatalf("after record %d parameter %d is %v, the reference has %v; it began at %v, the longest way of any was %v\nplan: %+v",
				n, i, got[i], want, start[i], way, r.plan)
		}
	}
	t.Logf("record %d: %.2g of %.2g, at most %v", n, worst, way, tolerance)
}

// doubt notes elements whose next value hangs on the sign of what may be rounding:
// of the move, or for Yogi of what the second moment and its square differ by.
func (r *run) doubt(s *State, second []float64, tolerance float64) {
	rule := r.plan.ServerRule
	if rule == wire.ServerSign {
		clear(r.doubts) // it keeps nothing
	}
	longest := 0.0
	for _, d := range s.Delta {
		longest = max(longest, math.Abs(d))
	}
	for i, d := range s.Delta {
		off := ulps*math.Abs(s.X[i]) + tolerance*longest
		switch {
		case rule == wire.ServerSign && math.Abs(d) <= off,
			rule == wire.ServerYogi && math.Abs(second[i]-d*d) <= 2*math.Abs(d)*off:
			r.doubts[i] = true
		}
	}
}

// jump is what an element in doubt may be off: there and back by the sign's step, or
// what a fraction of the second moment makes of the way.
func (r *run) jump(way float64) float64 {
	if r.plan.ServerRule == wire.ServerSign {
		return 2.001 * float64(r.plan.ServerStep)
	}
	return way / 10
}
