package surrogate_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/zofl/zofl/internal/surrogate"
)

// wild draws points that coincide, nearly coincide or are far apart, and values of all sizes.
func wild(r *rand.Rand, dim int, before []float64) (x []float64, y float64) {
	x = make([]float64, dim)
	distance := []float64{0, 1e-12, 1e-8, 1e-4, 1e-1, 1, 1e3, 1e100}[r.IntN(8)]
	for i := range x {
		x[i] = before[i] + distance*r.NormFloat64()
		if distance == 1e100 || math.Abs(x[i]) > 1e99 {
			x[i] = math.Mod(x[i], 1)
		}
	}
	y = []float64{0, 1, 1e-300, 1e-310, 1e300, math.MaxFloat64}[r.IntN(6)] * (2*r.Float64() - 1)
	if r.IntN(3) > 0 {
		y = r.NormFloat64()
	}
	return x, y
}

// play adds wild points and queries the process now and then. It fails on NaN, and on an
// uncertainty outside its range.
func play(t *testing.T, seed uint64, cfg surrogate.Config) {
	r := rand.New(rand.NewPCG(seed, 5))
	p := surrogate.New(cfg)
	f := newFeatures(seed, 32, cfg.Dim, cfg.LengthScale)
	fit, w := surrogate.NewFit(f, cfg.Window, cfg.Noise), make([]float64, 32)
	x, g := make([]float64, cfg.Dim), make([]float64, cfg.Dim)
	cov, u := make([]float64, cfg.Dim*cfg.Dim), make([]float64, 3)
	for range 60 {
		var y float64
		x, y = wild(r, cfg.Dim, x)
		p.Add(x, y)
		fit.Add(x, y)
		at, _ := wild(r, cfg.Dim, x)
		p.Gradient(g, at)
		p.Covariance(cov, at)
		p.Uncertainty(u, [][]float64{at, x, at})
		fit.Weights(w)
		numbers := append([]float64{p.Mean(at), p.Variance(at), p.Mean(x)}, g...)
		for _, v := range append(append(append(numbers, cov...), u...), w...) {
			if math.IsNaN(v) {
				t.Fatalf("%+v, seed %d: got NaN with %d points", cfg, seed, p.Len())
			}
		}
		prior := cfg.LengthScale * cfg.LengthScale / float64(cfg.Dim) / 1.01
		for _, v := range u {
			if !(v >= 0 && v*prior <= 1) || u[0] != u[2] {
				t.Fatalf("%+v, seed %d: got uncertainty %v", cfg, seed, u)
			}
		}
	}
}

func configs(noise float64) (all []surrogate.Config) {
	for _, dim := range []int{1, 2, 5} {
		all = append(all, surrogate.Config{
			Dim: dim, Window: 11, LengthScale: 0.9, Noise: noise, Workers: 2,
		})
	}
	return all
}

func TestNeverNaN(t *testing.T) {
	for _, noise := range []float64{0, 1e-12, 1e-6, 1} {
		for _, cfg := range configs(noise) {
			for seed := range uint64(4) {
				play(t, seed, cfg)
			}
		}
	}
}

func FuzzProcess(f *testing.F) {
	f.Add(uint64(1), 1e-6)
	f.Add(uint64(2), 0.0)
	f.Fuzz(func(t *testing.T, seed uint64, noise float64) {
		if !(noise >= 0 && noise <= 1e300) {
			t.Skip()
		}
		all := configs(noise)
		play(t, seed, all[seed%uint64(len(all))])
	})
}

// Without noise, a point that is added twice needs jitter, which disappears after a whole
// window of other points.
func TestJitter(t *testing.T) {
	p := surrogate.New(surrogate.Config{Dim: 2, Window: 10, LengthScale: 1})
	c := newCloud(50, 2, 2)
	fill(p, c, 5)
	if p.Jitter() != 0 {
		t.Errorf("got jitter %g of distinct points, want 0", p.Jitter())
	}
	x := c.point()
	p.Add(x, 1)
	p.Add(x, 1)
	if j := p.Jitter(); !(j > 0 && j < 1e-8) {
		t.Errorf("got jitter %g of a point that came twice, want a little", j)
	}
	if got := p.Mean(x); math.Abs(got-1) > 1e-6 {
		t.Errorf("got mean %v there, want 1", got)
	}
	fill(p, c, 30)
	if p.Jitter() != 0 {
		t.Errorf("got jitter %g after the point had gone, want 0", p.Jitter())
	}
}

// If a caller adds numbers that are not finite, no method panics, and their effect ends when the
// point leaves the window.
func TestNotFinite(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(1)} {
		cfg := surrogate.Config{Dim: 2, Window: 6, LengthScale: 1, Noise: 1e-6}
		p, c := surrogate.New(cfg), newCloud(51, 2, 1)
		f := newFeatures(51, 16, 2, 1)
		fit, w := surrogate.NewFit(f, 6, 1e-6), make([]float64, 16)
		var points [][]float64
		for i := range 40 {
			x, y := c.point(), 1.0
			switch i {
			case 3:
				x[0] = bad
			case 5:
				y = bad
			default:
				y = quadratic(x)
			}
			p.Add(x, y)
			p.Uncertainty(make([]float64, 1), [][]float64{c.center})
			p.Gradient(make([]float64, 2), c.center)
			fit.Add(x, y)
			fit.Weights(w)
			points = append(points, x)
		}
		sameAs(t, p, cfg, points[34:], c)
		near(t, "weights", w, dual(f, points[34:], 1e-6), 1e-6)
	}
}

// dual returns a fresh fit's weights.
func dual(f *surrogate.Features, points [][]float64, noise float64) []float64 {
	fit, w := surrogate.NewFit(f, len(points), noise), make([]float64, f.Len())
	for _, x := range points {
		fit.Add(x, quadratic(x))
	}
	fit.Weights(w)
	return w
}

func TestConfigThatMakesNoSense(t *testing.T) {
	good := surrogate.Config{Dim: 1, Window: 1, LengthScale: 1}
	for name, break_ := range map[string]func(*surrogate.Config){
		"Dim":         func(c *surrogate.Config) { c.Dim = 0 },
		"Window":      func(c *surrogate.Config) { c.Window = -1 },
		"LengthScale": func(c *surrogate.Config) { c.LengthScale = math.NaN() },
		"Noise":       func(c *surrogate.Config) { c.Noise = -1e-9 },
		"Workers":     func(c *surrogate.Config) { c.Workers = -1 },
	} {
		t.Run(name, func(t *testing.T) {
			c := good
			break_(&c)
			defer func() {
				if recover() == nil {
					t.Errorf("got a process of %+v, want a panic", c)
				}
			}()
			surrogate.New(c)
		})
	}
}

func TestAllocations(t *testing.T) {
	cfg := surrogate.Config{Dim: 6, Window: 40, LengthScale: 1, Noise: 1e-6, Workers: 2}
	p, c := surrogate.New(cfg), newCloud(52, 6, 0.5)
	f := newFeatures(52, 64, 6, 1)
	fit, w := surrogate.NewFit(f, 40, 1e-6), make([]float64, 64)
	g, cov, xs, u := make([]float64, 6), make([]float64, 36), queries(c, 20),
		make([]float64, 20)
	i := 0
	step := func() {
		x := xs[i%len(xs)]
		i++
		p.Add(x, 1)
		p.Gradient(g, x)
		p.Covariance(cov, x)
		p.Uncertainty(u, xs)
		p.Mean(x)
		p.Variance(x)
		fit.Add(x, 1)
		fit.Weights(w)
		f.Gradient(g, x, w)
	}
	for range 200 {
		step()
	}
	if got := testing.AllocsPerRun(100, step); got >= 1 {
		t.Errorf("got %v allocations a step, want 0", got)
	}
}
