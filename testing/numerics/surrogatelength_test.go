//go:build !race

package numerics

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/zofl/zofl/internal/surrogate"
)

// logLikelihood is that of the values, up to a constant, for the best amplitude of the kernel.
func (o *oracle) logLikelihood(t *testing.T) float64 {
	y := mat.NewVecDense(len(o.y), o.y)
	return -float64(len(o.y))/2*math.Log(mat.Dot(y, o.weights(t))) - o.factor.LogDet()/2
}

// mostLost is what a fitted length scale may lose to the most likely one, in nats.
const mostLost = 0.15

// TestFitLengthScale compares the fitted length scale with the profile likelihood by gonum, also
// after the window has moved. With 80 smooth values in the plane the maximum is so sharp that the
// best of the powers of the square root of 2 misses it by far. A process that found its length
// scale answers like a process that was made with it.
func TestFitLengthScale(t *testing.T) {
	chosen := map[float64]bool{}
	for _, step := range []float64{0.1, 0.5, 3} {
		cfg := surrogate.Config{Dim: 6, Window: 40, LengthScale: 1.3, Noise: 1e-4,
			ZeroMean: step == 0.5}
		points, y := trajectory(rand.New(rand.NewPCG(7, 7)), 100, 6, step)
		chosen[fitsLengthScale(t, cfg, points, y, 0)] = true
	}
	if len(chosen) < 2 {
		t.Errorf("only the lengths %v were chosen", chosen)
	}
	points, y := bumps(rand.New(rand.NewPCG(7, 8)), 100)
	cfg := surrogate.Config{Dim: 2, Window: 80, LengthScale: 0.3, Noise: 1e-4}
	fitsLengthScale(t, cfg, points, y, 5)
}

// bumps returns points of the unit square, with a sum of Gaussian bumps of width 0.3.
func bumps(r *rand.Rand, n int) (points [][]float64, y []float64) {
	var bumps [][3]float64
	for range 25 {
		bumps = append(bumps, [3]float64{1.4*r.Float64() - 0.2, 1.4*r.Float64() - 0.2,
			r.NormFloat64()})
	}
	for range n {
		x, value := []float64{r.Float64(), r.Float64()}, 0.0
		for _, b := range bumps {
			value += b[2] * math.Exp(-(math.Pow(x[0]-b[0], 2)+math.Pow(x[1]-b[1], 2))/(2*0.3*0.3))
		}
		points, y = append(points, x), append(y, value)
	}
	return points, y
}

// fitsLengthScale fits l to the last points of a window, and returns it. Powers of the square root
// of 2 must lose at least so many nats.
func fitsLengthScale(t *testing.T, cfg surrogate.Config, points [][]float64, y []float64,
	sharp float64) float64 {
	t.Helper()
	p, u := surrogate.New(cfg), make([]float64, 1)
	for i, x := range points {
		p.Add(x, y[i])
		if i%30 == 29 {
			p.FitLengthScale()
			p.Uncertainty(u, points[:1])
		}
	}
	points, y = points[len(points)-cfg.Window:], y[len(y)-cfg.Window:]
	score := func(l float64) float64 {
		tried := cfg
		tried.LengthScale = l
		return newOracle(t, tried, points, y).logLikelihood(t)
	}
	most, coarse := math.Inf(-1), math.Inf(-1)
	for i := -32; i <= 32; i++ {
		s := score(cfg.LengthScale * math.Pow(2, float64(i)/8))
		most = max(most, s)
		if i%4 == 0 {
			coarse = max(coarse, s)
		}
	}
	got := p.FitLengthScale()
	if lost := most - score(got); lost > mostLost {
		t.Errorf("%+v: l is %g, %g nats less likely than the best", cfg, got, lost)
	}
	if most-coarse < sharp {
		t.Errorf("%+v: powers of the square root of 2 lose %g nats", cfg, most-coarse)
	}
	cfg.LengthScale = got
	compareAt(t, p, newOracle(t, cfg, points, y), points[len(points)-1])
	return got
}
