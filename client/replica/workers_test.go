package replica

import (
	"fmt"
	"slices"
	"testing"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/wire"
)

// bigPlan returns a plan with just enough parameters to divide the work for one direction among
// workers.
func bigPlan(dist plan.Distribution, several bool) *plan.Plan {
	p, big := basePlan(), uint64(workFor+3*prng.BlockLen+17)
	if dist == plan.Rademacher {
		big += (signsFor - 1) * workFor
	}
	p.Dim, p.Distribution, p.Rule, p.Beta, p.WeightDecay = big, dist, plan.Momentum, 0.9, 0.01
	if several {
		p.Segments = append(slices.Clone(layouts["several"]),
			plan.Segment{Name: "z", Len: big - 9000, MuScale: 0.25, StepScale: 3})
	}
	return p
}

// Any number of workers gives the same bits as one worker.
func TestWorkers(t *testing.T) {
	for _, dist := range []plan.Distribution{plan.Normal, plan.Rademacher} {
		for _, several := range []bool{false, true} {
			t.Run(fmt.Sprint(dist, several), func(t *testing.T) {
				p := bigPlan(dist, several)
				big := int(p.Dim)
				alone, c := begun(t, p, 0)
				round := c.round(1, 0.01, 3, wire.AppendScalars(nil, 3, -2, 1))
				mustApply(t, alone, round)
				x, n := alone.Params(), alone.N()+1
				for workers := 2; workers <= 4; workers++ {
					r := New(Config{Run: p.Run, Workers: workers})
					mustApply(t, r, newChain(p.Run).plan(p))
					mustApply(t, r, round)
					if r.Digest() != Digest(alone.Params(), alone.Momentum()) {
						t.Errorf("%d workers: another state", workers)
					}
					for _, off := range []int{0, 4096, 7} {
						wantPlus, wantMinus := make([]float32, big-off), make([]float32, big-off)
						alone.Probe(wantPlus, x, off, 0.5, n, 1, 2, prng.Shared)
						alone.Probe(wantMinus, x, off, -0.5, n, 1, 2, prng.Shared)
						plus := make([]float32, big-off)
						if r.Probe(plus, x, off, -0.5, n, 1, 2, prng.Shared); !slices.Equal(plus, wantMinus) {
							t.Errorf("%d workers: another probe at %d", workers, off)
						}
					}
				}
			})
		}
	}
}

// Probe with mu = 0 gives the iterate itself.
func TestProbeOfNothing(t *testing.T) {
	r, _ := begun(t, smallPlan(), 2)
	got := make([]float32, 4)
	if r.Probe(got, r.Params(), 3, 0, 9, 0, 0, prng.Shared); !slices.Equal(got, r.Params()[3:7]) {
		t.Errorf("got %v, want %v", got, r.Params()[3:7])
	}
}
