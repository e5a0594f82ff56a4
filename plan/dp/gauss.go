package dp

import (
	"math"

	"github.com/zofl/zofl/internal/dpnoise"
)

// A curve returns the epsilon of this many releases at delta. noise and delta are above 0, delta is
// below 1, and there is a release.
type curve func(noise float64, releases uint64, delta float64) float64

const (
	// carry bounds the relative error of [erfcx], of math.Erfc and of a product with math.Exp.
	carry = 1e-14
	// slack bounds the error of a logarithm of delta, and the factor of dpnoise.Continuous.
	slack = 1e-12
)

// gaussian is the exact curve of Gaussian noise. Together the releases are one Gaussian with a
// shift of mu = sqrt(T)/sigma standard deviations (Dong, Roth and Su 2022, Corollary 2), also if
// each shift depends on earlier releases. Its curve is that of Balle and Wang 2018, Theorem 8:
//
//	delta = Phi(mu/2 - epsilon/mu) - exp(epsilon) Phi(-mu/2 - epsilon/mu)
//
// gaussian solves it for z = epsilon/mu - mu/2, where nothing cancels, and rounds up.
func gaussian(noise float64, releases uint64, delta float64) float64 {
	mu := math.Sqrt(float64(releases)) / dpnoise.Continuous(noise) * (1 + carry)
	if math.IsInf(mu, 1) {
		return mu
	}
	want := math.Log(delta)
	low, high := -mu/2, math.Sqrt(-2*want) // delta is below exp(-high^2/2) at high
	if logDelta(mu, low) <= want {
		return 0
	}
	for middle := (low + high) / 2; low < middle && middle < high; middle = (low + high) / 2 {
		if logDelta(mu, middle) <= want {
			high = middle
		} else {
			low = middle
		}
	}
	return max(0, mu*(mu/2+high)+carry*mu*(mu+math.Abs(high)))
}

// logDelta returns the logarithm of delta for epsilon = mu (mu/2 + z) >= 0, rounded up. With
// exp(epsilon - (z+mu)^2/2) = exp(-z^2/2), no power overflows, however large epsilon is:
//
//	delta = exp(-z^2/2) (erfcx(z/sqrt 2) - erfcx((z+mu)/sqrt 2)) / 2
func logDelta(mu, z float64) float64 {
	less := erfcx((z+mu)/math.Sqrt2) * (1 - carry)
	if z >= 0 {
		return slack - z*z/2 + math.Log((erfcx(z/math.Sqrt2)*(1+carry)-less)/2)
	}
	return slack + math.Log((math.Erfc(z/math.Sqrt2)*(1+carry)-math.Exp(-z*z/2)*less)/2)
}

// erfcx returns exp(x^2) erfc(x), for x >= 0.
func erfcx(x float64) float64 {
	if x < 7 {
		square := x * x
		return math.Exp(square) * (1 + math.FMA(x, x, -square)) * math.Erfc(x)
	}
	// The asymptotic series: it alternates, and the first term left out bounds its error.
	sum, term := 1.0, 1.0
	for k := 1.0; math.Abs(term) > 1e-17; k++ {
		term *= -(2*k - 1) / (2 * x * x)
		sum += term
	}
	return sum / (x * math.Sqrt(math.Pi))
}
