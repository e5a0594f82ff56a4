package surrogate_test

import (
	"cmp"
	"slices"
	"testing"

	"github.com/zofl/zofl/mathx/surrogate"
)

// nearestOf returns, in the plain way, those of the latest points that are nearest to x,
// by age.
func nearestOf(points [][]float64, x []float64, keep, most int) [][]float64 {
	points = points[max(0, len(points)-keep):]
	order := make([]int, len(points))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Compare(norm(difference(points[a], x)), norm(difference(points[b], x)))
	})
	order = order[:min(most, len(order))]
	slices.Sort(order)
	var chosen [][]float64
	for _, i := range order {
		chosen = append(chosen, points[i])
	}
	return chosen
}

func TestNearestIsAFreshProcess(t *testing.T) {
	eachKernel(t, func(t *testing.T, k surrogate.Kernel) {
		cfg := surrogate.Config{Dim: 3, Window: 12, LengthScale: 1, Noise: 1e-5, Kernel: k,
			Nearest: true, History: 40}
		plain := cfg
		plain.Nearest = false
		p, c := surrogate.New(cfg), newCloud(30, 3, 1)
		var points [][]float64
		for i := range 100 {
			x := c.point()
			p.Add(x, quadratic(x))
			points = append(points, x)
			if i%7 != 0 {
				continue
			}
			at := c.point()
			p.Center(at)
			sameAs(t, p, plain, nearestOf(points, at, 40, 12), c)
			p.Center(at)
			sameAs(t, p, plain, nearestOf(points, at, 40, 12), c)
		}
		if p.Len() != 40 {
			t.Errorf("got %d points, want 40", p.Len())
		}
	})
}

// Points added after a choice join the chosen ones, as in a window.
func TestAddAfterCenter(t *testing.T) {
	cfg := surrogate.Config{Dim: 2, Window: 5, LengthScale: 1, Noise: 1e-5, Nearest: true}
	plain := cfg
	plain.Nearest = false
	p, c := surrogate.New(cfg), newCloud(31, 2, 1)
	var points [][]float64
	for range 15 {
		points = append(points, c.point())
		p.Add(points[len(points)-1], quadratic(points[len(points)-1]))
	}
	p.Center(c.center)
	chosen := nearestOf(points, c.center, 20, 5)
	x := c.point()
	p.Add(x, quadratic(x))
	sameAs(t, p, plain, append(chosen[1:], x), c)
}

func TestCenterOfTheLatestDoesNothing(t *testing.T) {
	cfg := surrogate.Config{Dim: 2, Window: 5, LengthScale: 1, Noise: 1e-5}
	p, c := surrogate.New(cfg), newCloud(32, 2, 1)
	fill(p, c, 9)
	x := c.point()
	before := p.Mean(x)
	p.Center(c.point())
	if got := p.Mean(x); got != before {
		t.Errorf("got mean %v after Center, want %v", got, before)
	}
}

// Of two values at one point the later counts.
func TestNearestOfEquals(t *testing.T) {
	p := surrogate.New(surrogate.Config{Dim: 1, Window: 1, LengthScale: 1, Nearest: true})
	for y, x := range []float64{5, 0, 0, 5} {
		p.Add([]float64{x}, float64(y))
	}
	p.Center([]float64{1})
	if got := p.Mean([]float64{0}); got != 2 {
		t.Errorf("got mean %v, want 2, the later value", got)
	}
}
