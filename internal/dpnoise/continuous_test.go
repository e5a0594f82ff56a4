package dpnoise

import (
	"math"
	mathrand "math/rand/v2"
	"testing"
)

// discrete returns the probabilities of discrete noise of this variance around a whole number, for
// -far..far.
func discrete(variance, around float64, far int) []float64 {
	p, sum := make([]float64, 2*far+1), 0.0
	for k := -far; k <= far; k++ {
		away := float64(k) - around
		p[k+far] = math.Exp(-away * away / (2 * variance))
		sum += p[k+far]
	}
	for i := range p {
		p[i] /= sum
	}
	return p
}

// TestRoundedIsDiscrete: continuous noise that is rounded at random, as at [Continuous], is
// discrete noise of the larger variance.
func TestRoundedIsDiscrete(t *testing.T) {
	const far, fine = 120, 1.0 / 4 // a sum of so many points is exact for such a Gaussian
	for _, variance := range []float64{spread + 7, 25, 30.5} {
		for _, around := range []float64{0, 3} {
			got, deviation := make([]float64, 2*far+1), math.Sqrt(variance-spread)
			for y := -80.0; y <= 80; y += fine {
				at := (y - around) / deviation
				density := math.Exp(-at*at/2) / (deviation * math.Sqrt(2*math.Pi))
				for i, p := range discrete(spread, y, far) {
					got[i] += fine * density * p
				}
			}
			for i, want := range discrete(variance, around, far) {
				if math.Abs(float64(i-far)) <= 40 && math.Abs(got[i]/want-1) > 1e-12 {
					t.Errorf("variance %v around %v: %d has %v, want %v", variance, around, i-far,
						got[i], want)
				}
			}
		}
	}
}

// exceeds returns the largest delta of two lists of probabilities.
func exceeds(p, q []float64, epsilon float64) (delta float64) {
	for i := range p {
		delta += max(0, p[i]-math.Exp(epsilon)*q[i])
	}
	return delta
}

// TestCurveOfDiscrete: the exact curve of a continuous Gaussian is no bound for discrete noise of
// the same variance. The curve of the variance that Continuous leaves is one.
func TestCurveOfDiscrete(t *testing.T) {
	curve := func(mu, epsilon float64) float64 {
		phi := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
		return phi(mu/2-epsilon/mu) - math.Exp(epsilon)*phi(-mu/2-epsilon/mu)
	}
	above := 0
	for _, variance := range []float64{12, 25, 100} {
		for _, shift := range []float64{1, 2, 7} {
			p, q := discrete(variance, shift, 200), discrete(variance, 0, 200)
			for epsilon := 0.0; epsilon < 3; epsilon += 0.01 {
				got := exceeds(p, q, epsilon)
				if got > curve(shift/math.Sqrt(variance), epsilon)*(1+1e-9) {
					above++
				}
				if most := curve(shift/math.Sqrt(variance-spread), epsilon); got > most*(1+1e-12) {
					t.Errorf("variance %v, shift %v, epsilon %v: %v, want at most %v", variance, shift,
						epsilon, got, most)
				}
			}
		}
	}
	if above < 100 {
		t.Errorf("discrete noise is above the curve of its variance %d times only", above)
	}
}

// TestContinuous: the noise of a mechanism has the variance that [Continuous] takes for granted,
// and hardly more.
func TestContinuous(t *testing.T) {
	random := mathrand.New(chacha())
	for range 10_000 {
		clip := float32(math.Exp(random.NormFloat64() * 5))
		sigma := float32(min(MostNoise, 0.01*math.Exp(random.Float64()*11.6)))
		m := New(clip, sigma)
		left := math.Sqrt(float64(m.variance)-spread) / (m.clip / m.grid)
		got := Continuous(float64(sigma))
		if !(got <= left) || got < float64(sigma)*(1-1e-6) {
			t.Fatalf("clip %v, sigma %v: got %v, want at most %v", clip, sigma, got, left)
		}
		if sigma > 0.4 && got < float64(sigma)*(1-1e-9) {
			t.Fatalf("sigma %v loses too much: %v", sigma, got)
		}
	}
	for sigma, want := range map[float64]float64{
		0: 0, 1e-300: 0, 1e-6: 0, math.Inf(1): math.Inf(1),
	} {
		if got := Continuous(sigma); got != want {
			t.Errorf("of %v: %v, want %v", sigma, got, want)
		}
	}
}
