package surrogate_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zofl/zofl/internal/surrogate"
)

// A cloud draws points around others, like those of a trajectory.
type cloud struct {
	*rand.Rand
	center []float64
	radius float64
}

func newCloud(seed uint64, dim int, radius float64) *cloud {
	c := &cloud{rand.New(rand.NewPCG(seed, 2)), make([]float64, dim), radius}
	for i := range c.center {
		c.center[i] = c.Float64()
	}
	return c
}

// point returns a point within radius of the center in every coordinate.
func (c *cloud) point() []float64 {
	x := slices.Clone(c.center)
	for i := range x {
		x[i] += c.radius * (2*c.Float64() - 1)
	}
	return x
}

// quadratic has its minimum, -0.25, at 0.475 in each coordinate, like the paper's quadratic scaled
// to [0, 1].
func quadratic(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		p := 20*v - 10
		sum += p*p + p
	}
	return sum / float64(10*len(x))
}

// fill adds points of a cloud.
func fill(p *surrogate.Process, c *cloud, n int) {
	for range n {
		x := c.point()
		p.Add(x, quadratic(x))
	}
}

func norm(x []float64) float64 {
	sum := 0.0
	for _, v := range x {
		sum += v * v
	}
	return math.Sqrt(sum)
}

func difference(a, b []float64) []float64 {
	d := slices.Clone(a)
	for i := range d {
		d[i] -= b[i]
	}
	return d
}

// near fails a test unless got differs from want by at most tolerance times want's length.
func near(t *testing.T, what string, got, want []float64, tolerance float64) {
	t.Helper()
	if e := norm(difference(got, want)); !(e <= tolerance*norm(want)) {
		t.Errorf("%s: got an error of %.3g of length %.3g, want %g of it at most",
			what, e, norm(want), tolerance)
	}
}

// Central differences with step h have an error of h^2 times a third derivative, and of
// 1e-16/h times the mean.
func TestGradientIsThatOfMean(t *testing.T) {
	const d, h = 7, 1e-4
	p := surrogate.New(
		surrogate.Config{Dim: d, Window: 40, LengthScale: 0.7, Noise: 1e-4})
	c := newCloud(1, d, 0.5)
	fill(p, c, 60)
	got, want := make([]float64, d), make([]float64, d)
	for range 10 {
		x := c.point()
		p.Gradient(got, x)
		for i := range x {
			at := x[i]
			x[i] = at + h
			up := p.Mean(x)
			x[i] = at - h
			want[i] = (up - p.Mean(x)) / (2 * h)
			x[i] = at
		}
		near(t, "gradient", got, want, 1e-6)
	}
}

func TestInterpolation(t *testing.T) {
	p := surrogate.New(
		surrogate.Config{Dim: 5, Window: 30, LengthScale: 0.5, Noise: 1e-12})
	fill(p, newCloud(2, 5, 0.5), 45)
	for i := range p.Len() {
		x, y := p.Point(i)
		if got := p.Mean(x); math.Abs(got-y) > 1e-8*math.Abs(y) {
			t.Errorf("point %d: got mean %v, want %v", i, got, y)
		}
		if got := p.Variance(x); got > 1e-11 {
			t.Errorf("point %d: got variance %v, want 0", i, got)
		}
	}
	if p.Jitter() != 0 {
		t.Errorf("got jitter %v, want 0", p.Jitter())
	}
}

// The variance of a value at its own point is at most the noise.
func TestVarianceAtData(t *testing.T) {
	for _, noise := range []float64{1e-2, 1e-4, 1e-6, 1e-8} {
		p := surrogate.New(surrogate.Config{Dim: 3, Window: 20, LengthScale: 1, Noise: noise})
		c := newCloud(3, 3, 0.5)
		fill(p, c, 20)
		x, _ := p.Point(7)
		if got := p.Variance(x); !(got <= noise && got > 0) {
			t.Errorf("noise %g: got variance %g at a point, want at most the noise", noise, got)
		}
		far := []float64{50, 50, 50}
		if got := p.Variance(far); got != 1 {
			t.Errorf("got variance %v far from all points, want 1", got)
		}
	}
}

func TestWithoutPoints(t *testing.T) {
	p := surrogate.New(surrogate.Config{Dim: 3, Window: 4, LengthScale: 0.5})
	x, got := []float64{1, 2, 3}, []float64{9, 9, 9}
	p.Gradient(got, x)
	if norm(got) != 0 || p.Mean(x) != 0 || p.Variance(x) != 1 {
		t.Errorf("got gradient %v, mean %v, variance %v, want 0, 0, 1", got, p.Mean(x),
			p.Variance(x))
	}
	p.Uncertainty(got[:1], [][]float64{x})
	if want := 3 / (0.5 * 0.5); math.Abs(got[0]-want) > 1e-12 {
		t.Errorf("got uncertainty %v, want %v", got[0], want)
	}
}

// With a single value, or with equal values, the gradient is 0.
func TestEqualValues(t *testing.T) {
	for _, n := range []int{1, 5} {
		p := surrogate.New(surrogate.Config{Dim: 2, Window: 9, LengthScale: 1, Noise: 1e-6})
		c := newCloud(4, 2, 1)
		for range n {
			p.Add(c.point(), 7e5)
		}
		g := []float64{1, 1}
		p.Gradient(g, c.point())
		if norm(g) != 0 || p.Mean(c.point()) != 7e5 {
			t.Errorf("n=%d: got gradient %v and mean %v, want 0 and 7e5", n, g, p.Mean(c.point()))
		}
	}
}

// Scaling the values scales the answers, and an offset does not change them.
func TestUnitsOfY(t *testing.T) {
	cfg := surrogate.Config{Dim: 4, Window: 20, LengthScale: 1, Noise: 1e-6}
	a, b := surrogate.New(cfg), surrogate.New(cfg)
	c := newCloud(5, 4, 0.5)
	for range 30 {
		x := c.point()
		a.Add(x, quadratic(x))
		b.Add(x, 1e5*quadratic(x)-3e5)
	}
	x := c.point()
	ga, gb := make([]float64, 4), make([]float64, 4)
	a.Gradient(ga, x)
	b.Gradient(gb, x)
	for i := range ga {
		ga[i] *= 1e5
	}
	near(t, "gradient", gb, ga, 1e-9)
	if got, want := b.Mean(x), 1e5*a.Mean(x)-3e5; math.Abs(got-want) > 1e-9*math.Abs(want) {
		t.Errorf("got mean %v, want %v", got, want)
	}
}
