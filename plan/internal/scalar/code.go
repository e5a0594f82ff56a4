package scalar

import (
	"encoding/binary"
	"math"

	"github.com/zofl/zofl/internal/half"
)

// A Code is how scalars are encoded. The values and methods are those of plan.Precision, where they
// are documented.
type Code uint8

// The codes by number; number 2 stands for no code.
const (
	single Code = 0
	halves Code = 1
	int8s  Code = 3
	int4s  Code = 4
	int2s  Code = 5
)

var quantizers = [...]Quantizer{int8s: Int8, int4s: Int4, int2s: Int2}

// Quantized reports whether the scalars of a block share a scale.
func (v Code) Quantized() bool { return v >= int8s }

// width is the number of bytes of a scalar that is encoded by itself.
func (v Code) width() int {
	if v == halves {
		return 2
	}
	return 4
}

// Bytes returns the number of bytes of a block of n scalars.
func (v Code) Bytes(n int) int {
	if v.Quantized() {
		return quantizers[v].Bytes(n)
	}
	return n * v.width()
}

// Fits says whether s has this many blocks of n scalars. If the scalars of a block share a scale,
// each block must also be sound, see [Quantizer.Sound].
func (v Code) Fits(s []byte, blocks, n int) bool {
	size := v.Bytes(n)
	if int64(len(s)) != int64(blocks)*int64(size) {
		return false
	}
	for v.Quantized() && len(s) > 0 {
		if !quantizers[v].Sound(s[:size], n) {
			return false
		}
		s = s[size:]
	}
	return true
}

// Len returns the number of scalars in s, or -1.
func (v Code) Len(s []byte) int {
	if v.Quantized() || len(s)%v.width() != 0 {
		return -1
	}
	return len(s) / v.width()
}

// Decode sets dst to block k of s.
func (v Code) Decode(dst []float32, s []byte, k int) {
	s = s[k*v.Bytes(len(dst)):]
	switch {
	case v.Quantized():
		quantizers[v].Decode(dst, s)
	case v == halves:
		for i := range dst {
			dst[i] = half.Float32(binary.LittleEndian.Uint16(s[2*i:]))
		}
	default:
		for i := range dst {
			dst[i] = math.Float32frombits(binary.LittleEndian.Uint32(s[4*i:]))
		}
	}
}

// Append appends a block to dst.
func (v Code) Append(dst []byte, block []float32) []byte {
	if v.Quantized() {
		return quantizers[v].Append(dst, block)
	}
	for _, x := range block {
		if v == halves {
			dst = binary.LittleEndian.AppendUint16(dst, half.Of(x))
		} else {
			dst = binary.LittleEndian.AppendUint32(dst, math.Float32bits(x))
		}
	}
	return dst
}

// Round sets a block to the values that its receiver reads.
func (v Code) Round(block []float32) {
	if v == single {
		return
	}
	var room [128]byte
	v.Decode(block, v.Append(room[:0], block), 0)
}

// Scale appends to dst the blocks of n scalars of s, each scalar times a factor of 0 to 1.
func (v Code) Scale(dst, s []byte, n int, factor float64) []byte {
	if v.Quantized() {
		for size := v.Bytes(n); len(s) > 0; s = s[size:] {
			dst = quantizers[v].Scale(dst, s[:size], factor)
		}
		return dst
	}
	var one [1]float32
	for i := range v.Len(s) {
		v.Decode(one[:], s, i)
		one[0] = float32(float32(factor) * one[0])
		dst = v.Append(dst, one[:])
	}
	return dst
}
