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

// TestFitLengthScale checks that the chosen length scale is the most likely one by gonum, also
// after the window has moved. A process that found its length scale answers like a process that was
// made with it.
func TestFitLengthScale(t *testing.T) {
	chosen := map[float64]bool{}
	for _, step := range []float64{0.1, 0.5, 3} {
		cfg := surrogate.Config{Dim: 6, Window: 40, LengthScale: 1.3, Noise: 1e-4,
			ZeroMean: step == 0.5}
		points, y := trajectory(rand.New(rand.NewPCG(7, 7)), 100, 6, step)
		p, u := surrogate.New(cfg), make([]float64, 1)
		for i, x := range points {
			p.Add(x, y[i])
			if i%30 == 29 {
				p.FitLengthScale()
				p.Uncertainty(u, points[:1])
			}
		}
		best, most := 0.0, math.Inf(-1)
		for i := -8; i <= 8; i++ {
			tried := cfg
			tried.LengthScale *= math.Pow(2, float64(i)/2)
			o := newOracle(t, tried, points[60:], y[60:])
			if score := o.logLikelihood(t); score > most {
				best, most = tried.LengthScale, score
			}
		}
		got := p.FitLengthScale()
		if got != best {
			t.Errorf("steps of %g: l is %g, gonum's %g", step, got, best)
		}
		cfg.LengthScale = best
		compareAt(t, p, newOracle(t, cfg, points[60:], y[60:]), points[99])
		chosen[best] = true
	}
	if len(chosen) < 2 {
		t.Errorf("only the lengths %v were chosen", chosen)
	}
}
