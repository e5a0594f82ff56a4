package replica

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/prng"
)

// pointsAt returns the points of perturbations 0 to 2 of a step of r. The iterate has values that
// arithmetic easily changes: -0 and 1e30.
func pointsAt(r *Replica, central bool) *Points {
	x := slices.Clone(r.Params())
	x[1], x[2] = float32(math.Copysign(0, -1)), 1e30
	p := &Points{X: x, Mu: 0.01, Central: central}
	for i := range 3 {
		p.Z = append(p.Z, r.Direction(5, 2, i, prng.Shared))
	}
	return p
}

// whole returns all elements of each point, computed by separate calls of Perturb.
func (p *Points) whole(r *Replica) (all [][]float32) {
	add := func(mu float32, i int) {
		v := make([]float32, len(p.X))
		r.Probe(v, p.X, 0, mu, 5, 2, i, prng.Shared)
		all = append(all, v)
	}
	if !p.Central {
		add(0, 0)
	}
	for i := range p.Z {
		if add(p.Mu, i); p.Central {
			add(-p.Mu, i)
		}
	}
	return all
}

// checkAll compares elements off, ..., off+n-1 of the points that are not left out.
func checkAll(t *testing.T, r *Replica, p *Points, want [][]float32, off, n int,
	leaveOut func(i int) bool) {
	t.Helper()
	guarded, dst := make([][]float32, p.Len()), make([][]float32, p.Len())
	for i := range dst {
		guarded[i] = make([]float32, n+2)
		guarded[i][0], guarded[i][n+1] = 42, 42
		if !leaveOut(i) {
			dst[i] = guarded[i][1 : n+1]
		}
	}
	r.PerturbAll(dst, off, n, p)
	for i, d := range dst {
		if d != nil && !slices.Equal(d, want[i][off:off+n]) {
			t.Errorf("central %v, %d at %d: point %d differs from its probe", p.Central, n, off, i)
		}
		if guarded[i][0] != 42 || guarded[i][n+1] != 42 {
			t.Errorf("central %v, %d at %d: wrote outside of point %d", p.Central, n, off, i)
		}
	}
}

// PerturbAll writes the same points as separate calls of Perturb, for any range of elements and
// with any points left out.
func TestPerturbAll(t *testing.T) {
	const dim = 9000
	for name, segments := range layouts {
		for _, dist := range []plan.Distribution{plan.Normal, plan.Rademacher} {
			for _, central := range []bool{false, true} {
				t.Run(fmt.Sprint(name, dist, central), func(t *testing.T) {
					plan := basePlan()
					plan.Dim, plan.Segments, plan.Distribution = dim, segments, dist
					r, _ := begun(t, plan, 0)
					p := pointsAt(r, central)
					want, given := p.whole(r), slices.Clone(p.X)
					if len(want) != p.Len() {
						t.Fatalf("%d points, want %d", p.Len(), len(want))
					}
					for _, off := range []int{0, 1, 4095, 4096, 4097, 8999, 9000} {
						for _, n := range []int{0, 1, 65, 4096, 4097, 8193, dim} {
							checkAll(t, r, p, want, off, min(n, dim-off), func(int) bool { return false })
						}
					}
					for out := range 8 {
						checkAll(t, r, p, want, 3, 8200, func(i int) bool { return out>>(i%3)&1 != 0 })
					}
					if !slices.Equal(p.X, given) {
						t.Error("x changed")
					}
				})
			}
		}
	}
}

// Any number of workers gives the same points, for few blocks and for many.
func TestPerturbAllWorkers(t *testing.T) {
	for _, dist := range []plan.Distribution{plan.Normal, plan.Rademacher} {
		for _, central := range []bool{false, true} {
			plan := bigPlan(dist, true)
			alone, _ := begun(t, plan, 0)
			p := pointsAt(alone, central)
			want, dim := p.whole(alone), int(plan.Dim)
			for workers := 2; workers <= 4; workers++ {
				r := New(Config{Run: plan.Run, Workers: workers})
				mustApply(t, r, newChain(plan.Run).plan(plan))
				checkAll(t, r, p, want, 0, dim, func(int) bool { return false })
				checkAll(t, r, p, want, 5, dim-7, func(i int) bool { return i == 1 })
			}
		}
	}
}

// For a single block with many points, workers divide the work by perturbation.
func TestPerturbAllOfOneBlock(t *testing.T) {
	const perturbations = 2 * workFor / prng.BlockLen
	plan := basePlan()
	plan.Dim = 2*prng.BlockLen + 9
	r := New(Config{Run: plan.Run, Workers: 3})
	mustApply(t, r, newChain(plan.Run).plan(plan))
	p := &Points{X: r.Params(), Mu: 0.5, Central: true}
	for i := range perturbations {
		p.Z = append(p.Z, r.Direction(5, 2, i, prng.Shared))
	}
	want := p.whole(r)
	for off := range 2 {
		checkAll(t, r, p, want, off*prng.BlockLen, prng.BlockLen, func(i int) bool { return i%5 == 0 })
	}
}

// PerturbAll panics if dst has the wrong lengths.
func TestPerturbAllPanics(t *testing.T) {
	r, _ := begun(t, smallPlan(), 2)
	p := pointsAt(r, true)
	six := make([]float32, 6)
	for name, dst := range map[string][][]float32{
		"few":   {six},
		"short": {six, six, six, six[:5], six, six},
	} {
		func() {
			defer func() {
				if got := recover(); got != lengthMismatch {
					t.Errorf("%s: got %v, want %q", name, got, lengthMismatch)
				}
			}()
			r.PerturbAll(dst, 0, 6, p)
		}()
	}
}
