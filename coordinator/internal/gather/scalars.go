package gather

import (
	"math"
	"slices"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// Read decodes a contribution, blocks of n scalars each, into the memory of dst, and returns the
// largest |v|. An infinity counts as larger than all numbers, and a NaN as larger than infinity.
func Read(dst *[]float32, precision plan.Precision, s wire.Scalars, blocks, n int) (
	largest float32) {
	values := slices.Grow((*dst)[:0], blocks*n)[:blocks*n]
	for k := range blocks {
		precision.Decode(values[k*n:(k+1)*n], s, k)
	}
	*dst = values
	return LargestOf(values)
}

// LargestOf returns the largest |v|. An infinity counts as larger than all numbers, and a NaN as
// larger than infinity.
func LargestOf(values []float32) float32 {
	most := uint32(0) // without their sign, bits ascend as the values do
	for _, v := range values {
		most = max(most, math.Float32bits(v)&^(1<<31))
	}
	return math.Float32frombits(most)
}

// Largest returns the largest |v| of a vector. An infinity counts as larger than all numbers, and a
// NaN as larger than infinity.
func Largest(s wire.Scalars) float32 {
	most := uint32(0) // without their sign, bits ascend as the values do
	for i := range len(s) / 4 {
		most = max(most, math.Float32bits(s.At(i))&^(1<<31))
	}
	return math.Float32frombits(most)
}

// Scale multiplies values by s, each product rounded once to float32.
func Scale(values []float32, s float64) {
	for i, v := range values {
		values[i] = float32(float64(v) * s)
	}
}

// Finite says whether v is neither a NaN nor an infinity.
func Finite(v float32) bool { return v-v == 0 }
