package tensors

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/zofl/zofl/internal/half"
)

// An element is the encoding of one parameter in a file.
type element struct {
	bytes int64
	order binary.ByteOrder
	get   func([]byte) float32
	put   func([]byte, float32) // the nearest value, ties to even
}

// floatOf returns the element of a kind: float32, float16 or bfloat16. floatOf returns nil for
// other kinds, which parameters cannot have.
func floatOf(kind string, order binary.ByteOrder) *element {
	switch kind {
	case "float32":
		return &element{4, order,
			func(b []byte) float32 { return math.Float32frombits(order.Uint32(b)) },
			func(b []byte, v float32) { order.PutUint32(b, math.Float32bits(v)) }}
	case "float16":
		return &element{2, order,
			func(b []byte) float32 { return half.Float32(order.Uint16(b)) },
			func(b []byte, v float32) { order.PutUint16(b, toFloat16(v)) }}
	case "bfloat16":
		return &element{2, order,
			func(b []byte) float32 { return math.Float32frombits(uint32(order.Uint16(b)) << 16) },
			func(b []byte, v float32) { order.PutUint16(b, toBFloat16(v)) }}
	}
	return nil
}

// toFloat16 rounds v to a float16. Of a NaN it keeps the bits that fit.
func toFloat16(v float32) uint16 {
	if v == v {
		return half.Of(v)
	}
	bits := math.Float32bits(v)
	kept := uint16(bits >> 13 & 0x3ff)
	return uint16(bits>>16&0x8000) | 0x7c00 | kept | quiet(kept == 0, 0x200)
}

func toBFloat16(v float32) uint16 {
	bits := math.Float32bits(v)
	if v != v {
		return uint16(bits>>16) | quiet(bits&(0x7f<<16) == 0, 0x40)
	}
	return uint16((bits + 0x7fff + bits>>16&1) >> 16)
}

// quiet returns the bit without which a NaN would become infinite.
func quiet(needed bool, bit uint16) uint16 {
	if needed {
		return bit
	}
	return 0
}

// fits returns an error if a finite value would become infinite in a file.
func (e *element) fits(x []float32) error {
	if e.bytes == 4 {
		return nil
	}
	var b [4]byte
	for i, v := range x {
		if e.put(b[:], v); math.IsInf(float64(e.get(b[:])), 0) && !math.IsInf(float64(v), 0) {
			return fmt.Errorf("element %d is %g, beyond what its %d bits can hold: end the name in .npy "+
				"or .f32, and all parameters are written as float32", i, v, 8*e.bytes)
		}
	}
	return nil
}
