package prng

import "math"

// SquaredNorm returns the sum of squares of the first d elements of z: in float64, ascending
// within each block, then the sums of the blocks ascending. It panics if d passes the last block.
func SquaredNorm(z Direction, d uint64) float64 {
	if d > MaxBlocks*BlockLen {
		panic(blockOutOfRange)
	}
	if z.Dist == Rademacher {
		return float64(d)
	}
	var total float64
	var b [BlockLen]float32
	for block := uint32(0); d > 0; block++ {
		n := min(d, BlockLen)
		Fill(b[:n], z, block)
		var sum float64
		for _, v := range b[:n] {
			sum += float64(float64(v) * float64(v))
		}
		total += sum
		d -= n
	}
	return total
}

// SphereScale returns the coefficient that applies a*z/|z|, the direction on the unit sphere, as a
// multiple of z: float32(float64(a) / sqrt(squaredNorm)). It is 0 for a squared norm of 0, where
// there is no direction.
func SphereScale(a float32, squaredNorm float64) float32 {
	if squaredNorm == 0 {
		return 0
	}
	return float32(float64(a) / math.Sqrt(squaredNorm))
}
