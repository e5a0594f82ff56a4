package cma

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/zofl/zofl/wire/survey"
)

// answer is what a device answers whose loss along the direction is f.
func answer(f func(a float64) float64) []float32 {
	distances := survey.Distances()
	v := make([]float32, survey.Mu.Values())
	base := f(0)
	v[0] = float32(base)
	for i, a := range distances {
		plus, minus := f(float64(a)), f(-float64(a))
		v[1+i] = float32((plus - minus) / 2)
		v[1+len(distances)+i] = float32((plus-base)/2 + (minus-base)/2)
	}
	return v
}

func TestFirstSigma(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	bowl := func(at, curve float64) func(float64) float64 {
		return func(a float64) float64 { return curve * (a - at) * (a - at) }
	}
	for _, c := range []struct {
		name      string
		f         []func(float64) float64
		low, high float64
	}{
		{"a bowl one away", []func(float64) float64{bowl(1, 1)}, 0.9, 1.1},
		{"three away", []func(float64) float64{bowl(-3, 1)}, 2.5, 3.5},
		{"scaled by ten thousand", []func(float64) float64{bowl(30000, 1e-9)}, 30, 320},
		{"a tenth of a thousandth", []func(float64) float64{bowl(1e-4, 1)}, 3e-5, 3e-3},
		{"unlike bowls, on average two away", []func(float64) float64{bowl(1, 1), bowl(3, 1)},
			1.8, 2.2},
		{"noise of a hundredth", []func(float64) float64{func(a float64) float64 {
			return bowl(2, 1)(a) + 0.04*rng.NormFloat64()
		}}, 0.9, 3.5},
		{"no loss far away", []func(float64) float64{func(a float64) float64 {
			if math.Abs(a) > 5 {
				return math.Inf(1)
			}
			return bowl(2, 1)(a)
		}}, 1.8, 2.2},
	} {
		var values [][]float32
		for _, f := range c.f {
			values = append(values, answer(f))
		}
		got, _ := FirstSigma(values)
		if v := float64(got.Value); !(v >= c.low && v <= c.high) || got.Why == "" ||
			got.Kind != survey.FirstSigma {
			t.Errorf("%s: sigma %v, %q, want %v to %v", c.name, got.Value, got.Why, c.low, c.high)
		}
	}
	if got, _ := FirstSigma([][]float32{answer(func(float64) float64 { return 7 })}); got.Value != 0 {
		t.Errorf("a constant loss: sigma %v, %q", got.Value, got.Why)
	}
}

// TestWider checks that the losses of the first candidates mend a first sigma from a direction that
// was almost orthogonal to the gradient, and no other.
func TestWider(t *testing.T) {
	bowl := func(at float64) func(float64) float64 {
		return func(a float64) float64 { return (a - at) * (a - at) }
	}
	s, b := FirstSigma([][]float32{answer(bowl(1e-3))})
	if s.Value > 0.01 || b.Curve < 1.9 || b.Curve > 2.1 {
		t.Fatalf("sigma %v, %+v, want some thousandth and a curve of 2", s.Value, b)
	}
	sigma := float64(s.Value)
	spread := func(size float64) (losses []float32) {
		for _, z := range []float64{-1.2, 0.3, 1.5, -0.4, 0.9, -1.1} {
			losses = append(losses, float32(size*(z+1.2)))
		}
		return losses
	}
	if w := b.wider(spread(6*sigma), sigma, 1e30); w != 3*sigma {
		t.Errorf("a gradient of 6 and a curve of 2, which tell about 3: sigma %v, want %v", w, 3*sigma)
	}
	for name, losses := range map[string][]float32{
		"a candidate without a loss":    append(spread(6*sigma), 1e30),
		"a candidate that is no number": append(spread(6*sigma), float32(math.NaN())),
	} {
		if w := b.wider(losses, sigma, 1e30); w != 0 {
			t.Errorf("%s: sigma %v, want none", name, w)
		}
	}
	if w := (Bend{b.Curve, 4 * sigma}).wider(spread(6*sigma), sigma, 1e30); w != 0 {
		t.Errorf("noise like the candidates' losses: sigma %v, want none", w)
	}
	s, b = FirstSigma([][]float32{answer(bowl(1))})
	if w := b.wider(spread(2), float64(s.Value), 1e30); w != 0 || b.Curve == 0 {
		t.Errorf("sigma %v fits, and %v takes its place", s.Value, w)
	}
	slope := answer(func(a float64) float64 { return 3 * a })
	if _, b := FirstSigma([][]float32{slope}); b.Curve != 0 {
		t.Errorf("a slope without a curve: %+v", b)
	}
}
