package robust

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zofl/zofl/plan"
)

// TestOneOfFew has one device send 5 or 10 times the usual length. What is left of 5 times follows
// the number of contributors, and 10 times do not count, unless the bound is larger.
func TestOneOfFew(t *testing.T) {
	for n, most := range map[int]float64{1: 5, 2: 5, 3: 1, 5: 1, 6: 1.5, 12: 1.5, 20: 2.5, 32: 4,
		64: 5, 1000: 5} {
		for _, bound := range []float32{plan.UsualBound, 7, 12} {
			g := newDesk(&plan.Plan{RobustFields: plan.RobustFields{Bound: bound}})
			all := make([][]float32, n)
			for i := range all {
				all[i] = ones(30, 1)
			}
			if n > 1 {
				all[n-1] = ones(30, 5)
			}
			g.round(all)
			if n > 1 {
				if got := float64(all[n-1][0]); g.limitOf(ones(30, 5)) != most || got != 5 {
					t.Errorf("%d devices, bound %v: %v is left, want %v", n, bound,
						g.limitOf(ones(30, 5)), most)
				}
			}
			limits := bound <= plan.UsualBound && n >= minority
			if g.Out(ones(30, 10)) != limits || g.Out(ones(30, 7.9)) {
				t.Errorf("%d devices, bound %v: out is %v, want %v", n, bound, g.Out(ones(30, 10)), limits)
			}
			if g.Cuts != 0 {
				t.Errorf("%d devices, bound %v: %d cuts", n, bound, g.Cuts)
			}
		}
	}
}

// limitOf returns the length that Limit leaves.
func (d *desk) limitOf(values []float32) float64 {
	d.Limit(values)
	return math.Round(lengthOf(values)*1e6) / 1e6
}

// TestLimitFollows has all contributions grow a thousandfold. The limit does not keep them short:
// as with any bound, they are as long as they were sent once the log shows that.
func TestLimitFollows(t *testing.T) {
	for _, n := range []int{3, 10} {
		g := newDesk(&plan.Plan{RobustFields: plan.RobustFields{Bound: plan.UsualBound}})
		for r := range 60 {
			size := float32(1)
			if r >= 20 {
				size = 1000
			}
			all := make([][]float32, n)
			for i := range all {
				all[i] = ones(10, size)
			}
			factors := g.round(all)
			out, left := g.Out(ones(10, size)), ones(10, size)
			if f := g.Limit(left); out || f != 1 {
				t.Fatalf("%d devices, round %d: out is %v, limited by %v", n, r, out, f)
			}
			if r == 59 && slices.Min(factors) < 1 {
				t.Errorf("%d devices: cut by %v", n, factors)
			}
		}
	}
}

// TestLimitOfLosses: of candidates' losses a device may send two thirds of what all others do
// together, and what it sends beyond that counts as much. A second long one makes little room.
func TestLimitOfLosses(t *testing.T) {
	for name, c := range map[string]struct {
		sizes []float32
		left  float64 // of the last size
	}{
		"alike":         {[]float32{1, 1, 1, 1, 1}, 1},
		"steep":         {[]float32{1, 2, 3, 4, 6}, 6},
		"steeper":       {[]float32{1, 2, 3, 3, 7}, 6},
		"a liar":        {[]float32{1, 1, 1, 1e6}, 2},
		"two liars":     {[]float32{1, 1, 1, 1, 1e6, 1e6}, 8},
		"one of two":    {[]float32{1, 1e3}, 1e3},
		"all but equal": {[]float32{0, 0, 0, 1}, 1},
	} {
		p := &plan.Plan{RobustFields: plan.RobustFields{Bound: plan.UsualBound}}
		p.Difference = plan.NoDifference
		g := newDesk(p)
		all := make([][]float32, len(c.sizes))
		for i, size := range c.sizes {
			all[i] = ones(30, size)
		}
		last := all[len(all)-1]
		g.round(all)
		if got := g.limitOf(ones(30, c.sizes[len(all)-1])); got != c.left || g.Out(last) {
			t.Errorf("%s: %v is left, want %v; out is %v", name, got, c.left, g.Out(last))
		}
	}
}

// TestRootsAreNotLimited: with roots, contributions are compared with the roots, and a root counts
// whatever the others send.
func TestRootsAreNotLimited(t *testing.T) {
	g := newDesk(&plan.Plan{RobustFields: plan.RobustFields{Bound: plan.UsualBound, Trust: 10,
		Roots: []string{"root"}}})
	g.Root = func(slot uint32) bool { return slot == 0 }
	g.round([][]float32{ones(30, 100), ones(30, 1), ones(30, 1), ones(30, 1)})
	if g.Out(ones(30, 100)) || g.Limit(ones(30, 100)) != 1 {
		t.Error("a root's contribution is limited")
	}
}

// TestVariatesOfFew: a control variate of one of five devices is at most as long as the longest
// usual contribution so far.
func TestVariatesOfFew(t *testing.T) {
	g := newDesk(&plan.Plan{RobustFields: plan.RobustFields{Bound: plan.UsualBound}})
	g.relayed = true
	for _, size := range []float32{100, 1, 1} {
		g.round([][]float32{ones(30, size), ones(30, size), ones(30, size), ones(30, size),
			ones(30, size)})
	}
	old, lie := []float32{99}, []float32{9e5}
	if g.CutVariate(0, old); old[0] != 99 {
		t.Errorf("an honest variate became %v", old[0])
	}
	if g.CutVariate(1, lie); lie[0] > 101*float32(math.Sqrt(5)) {
		t.Errorf("a variate of 9e5 became %v", lie[0])
	}
}

// TestOneLiarTrains has one device of a few lie, with the bound of new plans. The run ends at 2.5
// of 750 or less. One of three that sends no more than the bound undoes half of what the two others
// learn in a round, so that run ends at 15 or less.
func TestOneLiarTrains(t *testing.T) {
	usual := &plan.Plan{RobustFields: plan.RobustFields{Bound: plan.UsualBound}}
	for _, n := range []int{3, 5, 10, 20} {
		for name, times := range map[string]float32{"-10": -10, "-100": -100, "-5": -5,
			"flipped": -1} {
			honest := (&school{devices: n - 1}).train(&plan.Plan{})
			s := &school{devices: n, liars: 1,
				lie: func(_ *rand.Rand, _, own []float32) []float32 {
					for p := range own {
						own[p] *= times
					}
					return own
				}}
			got := s.train(usual)
			most := 2.5
			if n == 3 && times >= -plan.UsualBound {
				most = 15
			}
			if t.Logf("1 of %d, %s: %.3g, honest %.3g", n, name, got, honest); got > most {
				t.Errorf("1 of %d, %s: %.3g of 750, honest %.3g", n, name, got, honest)
			}
		}
	}
}
