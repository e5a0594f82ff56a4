package blackbox

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

func quadratic(t testing.TB, dim, clients int, c float64) *Quadratic {
	t.Helper()
	q, err := NewQuadratic(QuadraticConfig{Dim: dim, Clients: clients, C: c, Seed: 3})
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// Whatever C is, the mean of the functions is (99): that is what Dirichlet draws are
// for.
func TestQuadraticMeanIsF(t *testing.T) {
	for _, clients := range []int{1, 2, 5, 100} {
		for _, c := range []float64{0, 0.5, 5, 50} {
			q := quadratic(t, 300, clients, c)
			mean, x := Mean(q), make([]float32, q.Dim())
			for seed := range uint64(5) {
				q.Start(x, seed)
				got, want := mean(x), q.F(x)
				if math.Abs(got-want) > 1e-12*math.Abs(want) {
					t.Errorf("N=%d C=%v: mean of the f_i %v, F %v", clients, c, got, want)
				}
			}
		}
	}
}

func TestQuadraticMinimum(t *testing.T) {
	q := quadratic(t, 300, 5, 5)
	x, g := slices.Repeat([]float32{-0.5}, 300), make([]float64, 300)
	if got := q.F(x); math.Abs(got-q.Minimum()) > 1e-15 || math.Abs(got-QuadraticMinimum) > 5e-6 {
		t.Errorf("F at -1/2 is %v, want %v, as the paper has %v", got, q.Minimum(), QuadraticMinimum)
	}
	if q.MeanGradient(g, x); slices.ContainsFunc(g, func(v float64) bool { return v != 0 }) {
		t.Error("the gradient at the minimum is not 0")
	}
}

// (98) written out for one coordinate, and gradients against central differences, which
// are exact for quadratic functions up to rounding.
func TestQuadraticGradients(t *testing.T) {
	q := quadratic(t, 7, 3, 20)
	x, g, sum := make([]float32, 7), make([]float64, 7), make([]float64, 7)
	q.Start(x, 1)
	for j := range x {
		x[j] /= 2 // away from the border
	}
	for i := range q.Clients() {
		f := q.Local(i)
		q.Gradient(g, i, x)
		for j := range x {
			old := x[j]
			x[j] = old + 0.5
			up, right := f(x), float64(x[j])
			x[j] = old - 0.5
			down, left := f(x), float64(x[j])
			x[j] = old
			if want := (up - down) / (right - left); math.Abs(g[j]-want) > 1e-6 {
				t.Errorf("f_%d by x_%d: got %v, want %v", i, j, g[j], want)
			}
			sum[j] += g[j] / 3
		}
	}
	q.MeanGradient(g, x)
	for j := range g {
		if want := (2*float64(x[j]) + 1) / 70; math.Abs(g[j]-want) > 1e-14 ||
			math.Abs(sum[j]-want) > 1e-14 {
			t.Errorf("F by x_%d: got %v, mean of the clients' %v, want %v", j, g[j], sum[j], want)
		}
	}
}

func TestQuadraticBox(t *testing.T) {
	q := quadratic(t, 2, 2, 1)
	for i := range 2 {
		f := q.Local(i)
		if in, out := f([]float32{10, -10}), f([]float32{11, -99}); in != out {
			t.Errorf("f_%d is %v at a corner and %v beyond it", i, in, out)
		}
		if v := f([]float32{float32(math.NaN()), 0}); !math.IsNaN(v) {
			t.Errorf("f_%d of NaN is %v", i, v)
		}
	}
	x := make([]float32, 1000)
	q = quadratic(t, 1000, 2, 1)
	q.Start(x, 1)
	if least, most := slices.Min(x), slices.Max(x); least < -10 || least > -9.9 ||
		most > 10 || most < 9.9 {
		t.Errorf("the start is between %v and %v, want the box", least, most)
	}
}

func TestQuadraticRefuses(t *testing.T) {
	for want, c := range map[string]QuadraticConfig{
		"Dim is 0":      {Clients: 1},
		"Clients is -1": {Dim: 1, Clients: -1},
		"C is -1":       {Dim: 1, Clients: 1, C: -1},
		"C is NaN":      {Dim: 1, Clients: 1, C: math.NaN()},
		"C is +Inf":     {Dim: 1, Clients: 1, C: math.Inf(1)},
	} {
		if _, err := NewQuadratic(c); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
}

// Mean and variance of a gamma variate are its shape.
func TestGamma(t *testing.T) {
	const draws = 50_000
	for _, shape := range []float64{0.2, 0.7, 1, 5} {
		rng := stream(2, 99)
		var mean, square float64
		for range draws {
			g := math.Exp(logGamma(rng, shape))
			mean += g / draws
			square += g * g / draws
		}
		variance := square - mean*mean
		if math.Abs(mean-shape) > 5*math.Sqrt(shape/draws) || math.Abs(variance/shape-1) > 0.1 {
			t.Errorf("shape %v: mean %v, variance %v", shape, mean, variance)
		}
	}
}

// Moments of Dir(alpha): mean 1/n, variance (1/n)(1-1/n)/(n alpha + 1); and the sum is 1.
func TestDirichlet(t *testing.T) {
	if testing.Short() {
		t.Skip("arithmetic, long under the race detector")
	}
	const draws = 20_000
	for _, tt := range []struct {
		n     int
		alpha float64
	}{{5, 0.2}, {5, 3}, {2, 1}, {100, 0.01}} {
		t.Run(fmt.Sprint(tt.n, " of ", tt.alpha), func(t *testing.T) {
			rng, p := stream(1, 99), make([]float64, tt.n)
			var mean, square float64
			for range draws {
				dirichlet(p, rng, tt.alpha)
				var sum float64
				for _, v := range p {
					if !(v >= 0 && v <= 1) {
						t.Fatalf("drew %v", v)
					}
					sum += v
				}
				if math.Abs(sum-1) > 1e-14 {
					t.Fatalf("the sum is %v", sum)
				}
				mean += p[0] / draws
				square += p[0] * p[0] / draws
			}
			n := float64(tt.n)
			variance := (1 / n) * (1 - 1/n) / (n*tt.alpha + 1)
			if math.Abs(mean-1/n) > 5*math.Sqrt(variance/draws) {
				t.Errorf("mean %v, want %v", mean, 1/n)
			}
			if got := square - mean*mean; math.Abs(got/variance-1) > 0.15 {
				t.Errorf("variance %v, want %v", got, variance)
			}
		})
	}
}

func TestQuadraticAllocates(t *testing.T) {
	q := quadratic(t, 300, 5, 5)
	f, x := q.Local(0), make([]float32, 300)
	if n := testing.AllocsPerRun(10, func() { f(x) }); n > 0 {
		t.Errorf("%v allocations a query", n)
	}
}

func BenchmarkQuadratic(b *testing.B) {
	q := quadratic(b, 300, 5, 5)
	f, x := q.Local(0), make([]float32, 300)
	q.Start(x, 1)
	for b.Loop() {
		f(x)
	}
}
