package blackbox

import (
	"math"
	"math/rand/v2"
)

// dirichlet draws from the Dirichlet distribution with all parameters equal to alpha. dst
// receives gamma variates divided by their sum. dirichlet computes them from their logarithms,
// because with a small alpha all the gamma variates may underflow.
func dirichlet(dst []float64, rng *rand.Rand, alpha float64) {
	most := math.Inf(-1)
	for i := range dst {
		dst[i] = logGamma(rng, alpha)
		most = max(most, dst[i])
	}
	var sum float64
	for i, v := range dst {
		dst[i] = math.Exp(v - most)
		sum += dst[i]
	}
	for i := range dst {
		dst[i] /= sum
	}
}

// logGamma draws the logarithm of a gamma variate of scale 1 and any positive shape. logGamma
// derives a variate of a shape below 1 from a variate of the next shape: G(shape) = G(shape+1)
// U^(1/shape).
func logGamma(rng *rand.Rand, shape float64) float64 {
	if shape < 1 {
		return logGamma(rng, shape+1) + math.Log(1-rng.Float64())/shape
	}
	d := shape - 1.0/3
	c := 1 / math.Sqrt(9*d)
	for {
		x := rng.NormFloat64()
		v := 1 + float64(c*x)
		if v <= 0 {
			continue
		}
		v *= v * v
		u := 1 - rng.Float64() // never 0
		if math.Log(u) < float64(x*x/2)+float64(d*(1-v+math.Log(v))) {
			return math.Log(d * v)
		}
	}
}
