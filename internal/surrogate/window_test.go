package surrogate_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/zofl/zofl/internal/surrogate"
)

// answers returns all answers of a process at some points.
func answers(p *surrogate.Process, dim int, xs [][]float64) (mean, gradient,
	uncertainty []float64) {
	uncertainty = make([]float64, len(xs))
	p.Uncertainty(uncertainty, xs)
	for _, x := range xs {
		g := make([]float64, dim)
		p.Gradient(g, x)
		gradient = append(gradient, g...)
		mean = append(mean, p.Mean(x), p.Variance(x))
	}
	return mean, gradient, uncertainty
}

func queries(c *cloud, n int) [][]float64 {
	var xs [][]float64
	for range n {
		xs = append(xs, c.point())
	}
	return xs
}

// sameAs compares a process with a new process that has the same points.
func sameAs(t *testing.T, p *surrogate.Process, cfg surrogate.Config, points [][]float64,
	c *cloud) {
	t.Helper()
	fresh := surrogate.New(cfg)
	for _, x := range points {
		fresh.Add(x, quadratic(x))
	}
	xs := queries(c, 13)
	mean, gradient, uncertainty := answers(p, cfg.Dim, xs)
	wantMean, wantGradient, wantUncertainty := answers(fresh, cfg.Dim, xs)
	near(t, "mean", mean, wantMean, 1e-8)
	near(t, "gradient", gradient, wantGradient, 1e-8)
	near(t, "uncertainty", uncertainty, wantUncertainty, 1e-8)
}

// The test tries windows of every length modulo 4, and queries the process at every age of the
// factor. The first queries come before the window is full.
func TestWindowIsAFreshProcess(t *testing.T) {
	for window := 1; window <= 13; window += 3 {
		t.Run(fmt.Sprint(window), func(t *testing.T) {
			cfg := surrogate.Config{Dim: 3, Window: window, LengthScale: 1, Noise: 1e-4}
			p, c := surrogate.New(cfg), newCloud(uint64(window), 3, 1)
			var points [][]float64
			for range 4 * window {
				x := c.point()
				p.Add(x, quadratic(x))
				points = append(points, x)
				points = points[max(0, len(points)-window):]
				sameAs(t, p, cfg, points, c)
			}
		})
	}
}

func TestLongWindow(t *testing.T) {
	cfg := surrogate.Config{Dim: 20, Window: 150, LengthScale: 1, Noise: 1e-4}
	p, c := surrogate.New(cfg), newCloud(8, 20, 0.3)
	var points [][]float64
	for i := range 1000 {
		x := c.point()
		c.center[i%20] += 0.05
		p.Add(x, quadratic(x))
		points = append(points, x)
		if i == 160 || i == 290 || i == 999 {
			sameAs(t, p, cfg, points[max(0, len(points)-150):], c)
		}
	}
	if p.Len() != 150 {
		t.Errorf("got %d points, want 150", p.Len())
	}
	for i := range p.Len() {
		x, y := p.Point(i)
		if want := points[len(points)-150+i]; !slices.Equal(x, want) || y != quadratic(want) {
			t.Errorf("got %v as point %d, want %v", x, i, want)
		}
	}
}

// Neither the order of queries nor the number of workers changes an answer.
func TestOrderOfQueries(t *testing.T) {
	cfg := surrogate.Config{Dim: 6, Window: 31, LengthScale: 1, Noise: 1e-6}
	const n = 29
	var want [][]float64
	for _, workers := range []int{1, 3} {
		cfg.Workers = workers
		for _, reversed := range []bool{false, true} {
			p, c := surrogate.New(cfg), newCloud(9, 6, 0.3)
			fill(p, c, 20)
			at := c.point()
			p.Uncertainty(make([]float64, 1), [][]float64{at})
			fill(p, c, 30)
			xs := queries(c, n)
			if reversed {
				slices.Reverse(xs)
			}
			mean, gradient, uncertainty := answers(p, 6, xs)
			if reversed {
				slices.Reverse(uncertainty)
				gradient = byPoint(gradient, 6)
				mean = byPoint(mean, 2)
			}
			if want == nil {
				want = [][]float64{mean, gradient, uncertainty}
			}
			for i, got := range [][]float64{mean, gradient, uncertainty} {
				if !slices.Equal(got, want[i]) {
					t.Errorf("workers %d, reversed %v: got %v, want %v", workers, reversed, got,
						want[i])
				}
			}
		}
	}
}

// byPoint reverses the order of points with that many numbers each.
func byPoint(v []float64, each int) []float64 {
	var r [][]float64
	for part := range slices.Chunk(v, each) {
		r = append(r, part)
	}
	slices.Reverse(r)
	return slices.Concat(r...)
}

// A process restored from its stored points gives the same answers.
func TestPointsRestore(t *testing.T) {
	cfg := surrogate.Config{Dim: 3, Window: 10, LengthScale: 1, Noise: 1e-5}
	p, c := surrogate.New(cfg), newCloud(10, 3, 1)
	fill(p, c, 55)
	q := surrogate.New(cfg)
	for i := range p.Len() {
		q.Add(p.Point(i))
	}
	x := c.point()
	if got, want := q.Mean(x),
		p.Mean(x); q.Len() != p.Len() || math.Abs(got-want) > 1e-9*math.Abs(want) {
		t.Errorf("got %d points and mean %v, want %d and %v", q.Len(), got, p.Len(), want)
	}
}
