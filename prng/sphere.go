package prng

import "math"

// SphereScale returns float32(float64(a) / sqrt(squaredNorm)): times z, it gives a times the
// direction on the unit sphere. SphereScale returns 0 for a squared norm of 0, because a vector of
// zeros has no direction.
func SphereScale(a float32, squaredNorm float64) float32 {
	if squaredNorm == 0 {
		return 0
	}
	return float32(float64(a) / math.Sqrt(squaredNorm))
}
