package prng

import "math"

// SphereScale returns the coefficient of z that applies a*z/|z|, a times the direction on the
// unit sphere: float32(float64(a) / sqrt(squaredNorm)). It is 0 for a squared norm of 0, for
// which there is no direction.
func SphereScale(a float32, squaredNorm float64) float32 {
	if squaredNorm == 0 {
		return 0
	}
	return float32(float64(a) / math.Sqrt(squaredNorm))
}
