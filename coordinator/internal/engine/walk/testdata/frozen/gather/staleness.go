package gather

import (
	"math"

	"github.com/zofl/zofl/wire"
)

// Discount returns s(age), the factor of a contribution of that age, computed in float64 by
// square roots, products and divisions only. s(0) is 1. See [wire.Staleness].
func Discount(p *wire.Plan, age uint64) float64 {
	whole := float64(age)
	switch p.Staleness {
	case wire.StaleConstant:
		return 1
	case wire.StalePolynomial:
		return 1 / power(1+whole, p.StalenessA)
	case wire.StaleHinge:
		if age <= uint64(p.StalenessB) {
			return 1
		}
		beyond := float64(age - uint64(p.StalenessB))
		return 1 / (1 + float64(float64(p.StalenessA)*beyond))
	}
	return 1 / math.Sqrt(1+whole)
}

// power returns x^a for x >= 1 and 0 <= a <= 64: x times itself for the whole part of a, and a
// repeated square root of x for each bit of its fraction, down to 2^-24.
func power(x float64, a float32) float64 {
	whole, fraction := math.Modf(float64(a))
	y := 1.0
	for range int(whole) {
		y = float64(y * x)
	}
	for range 24 {
		x, fraction = math.Sqrt(x), 2*fraction
		if fraction >= 1 {
			y, fraction = float64(y*x), fraction-1
		}
	}
	return y
}

// scale multiplies values by s, each product rounded once to float32.
func scale(values []float32, s float64) {
	for i, v := range values {
		values[i] = float32(float64(v) * s)
	}
}
