package replica

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/wire"
)

// bigPlan is of as many parameters as are worth a team for one direction.
func bigPlan(dist wire.Distribution, several bool) *wire.Plan {
	p, big := basePlan(), uint64(workFor+3*prng.BlockLen+17)
	if dist == wire.Rademacher {
		big += (signsFor - 1) * workFor
	}
	p.Dim, p.Distribution, p.Rule, p.Beta, p.WeightDecay = big, dist, wire.Momentum, 0.9, 0.01
	if several {
		p.Segments = append(slices.Clone(layouts["several"]), wire.Segment{Name: "z", Len: big - 9000, MuScale: 0.25, StepScale: 3})
	}
	return p
}

// Any number of workers gives the bits of one.
func TestWorkers(t *testing.T) {
	for _, dist := range []wire.Distribution{wire.Normal, wire.Rademacher} {
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
						alone.Probe(wantPlus, x, off, 0.5, n, 1, 2)
						alone.Probe(wantMinus, x, off, -0.5, n, 1, 2)
						plus, minus := make([]float32, big-off), make([]float32, big-off)
						if r.Probe(plus, x, off, -0.5, n, 1, 2); !slices.Equal(plus, wantMinus) {
							t.Errorf("%d workers: another probe at %d", workers, off)
						}
						r.ProbePair(plus, minus, x, off, 0.5, n, 1, 2)
						if !slices.Equal(plus, wantPlus) || !slices.Equal(minus, wantMinus) {
							t.Errorf("%d workers: another pair at %d", workers, off)
						}
					}
				}
			})
		}
	}
}

// A pair is two probes, wherever it begins and ends.
func TestProbePair(t *testing.T) {
	const dim, n, k, pert = 9000, 5, 2, 3
	for name, segments := range layouts {
		for _, dist := range []wire.Distribution{wire.Normal, wire.Rademacher} {
			p := basePlan()
			p.Dim, p.Segments, p.Distribution = dim, segments, dist
			r, _ := begun(t, p, 0)
			x := make([]float32, dim)
			random := lcg(2)
			for i := range x {
				x[i] = random.float()
			}
			x[1], x[2] = float32(math.Copysign(0, -1)), 1e30
			given := slices.Clone(x)
			for _, off := range []int{0, 1, 63, 4095, 4096, 4097, 8999, 9000} {
				for _, length := range []int{0, 1, 65, 4095, 4096, 4097, 8193, dim} {
					length = min(length, dim-off)
					var got, want [2][]float32
					for i := range got {
						got[i], want[i] = make([]float32, length+2), make([]float32, length+2)
						for _, v := range [][]float32{got[i], want[i]} {
							v[0], v[length+1] = 42, 42
						}
					}
					inner := func(v []float32) []float32 { return v[1 : length+1] }
					r.Probe(inner(want[0]), x, off, 0.01, n, k, pert)
					r.Probe(inner(want[1]), x, off, -0.01, n, k, pert)
					r.ProbePair(inner(got[0]), inner(got[1]), x, off, 0.01, n, k, pert)
					if !slices.Equal(got[0], want[0]) || !slices.Equal(got[1], want[1]) {
						t.Errorf("%s, %v: %d at %d: the pair differs from two probes, or writes outside", name, dist, length, off)
					}
				}
			}
			if !slices.Equal(x, given) {
				t.Errorf("%s, %v: x changed", name, dist)
			}
		}
	}
}

// mu = 0 is the iterate itself.
func TestProbeOfNothing(t *testing.T) {
	r, _ := begun(t, smallPlan(), 2)
	got := make([]float32, 4)
	if r.Probe(got, r.Params(), 3, 0, 9, 0, 0); !slices.Equal(got, r.Params()[3:7]) {
		t.Errorf("got %v, want %v", got, r.Params()[3:7])
	}
}
