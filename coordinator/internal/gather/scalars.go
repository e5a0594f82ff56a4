package gather

import (
	"math"
	"slices"

	"github.com/zofl/zofl/wire"
)

// read decodes scalars to the memory of dst and returns the largest |v|, where an
// infinity is larger than all numbers, and a NaN larger than that.
func Read(dst *[]float32, precision wire.Precision, s wire.Scalars) (largest float32) {
	values := slices.Grow((*dst)[:0], precision.Len(s))[:precision.Len(s)]
	if precision == wire.Single {
		for i := range values {
			values[i] = s.At(i)
		}
	} else {
		for i := range values {
			values[i] = precision.At(s, i)
		}
	}
	*dst = values
	most := uint32(0) // bits without a sign ascend with what they stand for
	for _, v := range values {
		most = max(most, math.Float32bits(v)&^(1<<31))
	}
	return math.Float32frombits(most)
}

// largest returns the largest |v| of a vector, where an infinity is larger than all
// numbers, and a NaN larger than that.
func Largest(s wire.Scalars) float32 {
	most := uint32(0) // bits without a sign ascend with what they stand for
	for i := range len(s) / 4 {
		most = max(most, math.Float32bits(s.At(i))&^(1<<31))
	}
	return math.Float32frombits(most)
}

// Finite says whether v is a number, and no infinity.
func Finite(v float32) bool { return v-v == 0 }
