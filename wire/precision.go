package wire

import (
	"encoding/binary"

	"github.com/zofl/zofl/wire/internal/scalar"
)

// Precision is how scalars are encoded in frames and records.
//
// Scalars travel in blocks, one for each local step: a contribution is K blocks of P scalars, or
// one of P in a first phase. In [Single] and [Half] precision each scalar is encoded by itself, so
// several blocks are encoded, or decoded, as one of them all. In the others the scalars of a block
// share a scale, so what one of them becomes depends on the rest.
type Precision uint8

const (
	// Single: float32, 4 bytes.
	Single Precision = 0
	// Half: binary16, 2 bytes, 11 bits of significand and at most 65504.
	Half Precision = 1
	// Int8: 8 bits a scalar s and 2 bytes a block for the scale r, the root of the mean square
	// of the block's scalars as a binary16: c = r (q + 1/2)/32, q = floor(32 s/r) in -128..127.
	Int8 Precision = 3 // 2 is never assigned: a test vector has it as unknown
	// Int4: 4 bits: c = 0.3125 r (q + 1/2), q = floor(s/(0.3125 r)) in -8..7.
	Int4 Precision = 4
	// Int2: 2 bits: c = 255/256 r (q + 1/2), q = floor(s/(255/256 r)) in -2..1.
	Int2 Precision = 5
)

// MaxHalf is the largest finite binary16, and so the largest scale of a block.
const MaxHalf = 65504

// Quantized reports whether the scalars of a block share a scale.
func (v Precision) Quantized() bool { return v >= Int8 }

var quantizers = [...]scalar.Quantizer{Int8: scalar.Int8, Int4: scalar.Int4, Int2: scalar.Int2}

// Bytes returns the number of bytes of a block of n scalars.
func (v Precision) Bytes(n int) int {
	if v.Quantized() {
		return quantizers[v].Bytes(n)
	}
	return n * v.width()
}

// width is the number of bytes of a scalar that is encoded by itself.
func (v Precision) width() int {
	if v == Half {
		return 2
	}
	return 4
}

// Fits reports whether s is as long as so many blocks of n scalars each, and each of them one that
// Append can make of finite scalars, if they share a scale; otherwise any bits fit.
func (v Precision) Fits(s Scalars, blocks, n int) bool {
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

// Len returns the number of scalars in s, or -1 if s ends within one, or if its length does not
// tell because the scalars of a block share a scale.
func (v Precision) Len(s Scalars) int {
	if v.Quantized() || len(s)%v.width() != 0 {
		return -1
	}
	return len(s) / v.width()
}

// Decode sets dst to block k of s, counted from 0. Every block has len(dst) scalars.
func (v Precision) Decode(dst []float32, s Scalars, k int) {
	s = s[k*v.Bytes(len(dst)):]
	if v.Quantized() {
		quantizers[v].Decode(dst, s)
		return
	}
	for i := range dst {
		if v == Half {
			dst[i] = scalar.FromHalf(binary.LittleEndian.Uint16(s[2*i:]))
		} else {
			dst[i] = s.At(i)
		}
	}
}

// Values returns the scalars of so many blocks of n, or nil if s does not fit them.
func (v Precision) Values(s Scalars, blocks, n int) []float32 {
	if !v.Fits(s, blocks, n) {
		return nil
	}
	values := make([]float32, blocks*n)
	for k := range blocks {
		v.Decode(values[k*n:(k+1)*n], s, k)
	}
	return values
}

// Append appends a block to dst. Scalars that are encoded by themselves are rounded to nearest
// even. A block that shares a scale gets an infinite one, or a NaN, if a scalar is not finite or
// if the scalars are too large: Fits refuses it, and Round shows it.
func (v Precision) Append(dst Scalars, block ...float32) Scalars {
	switch {
	case v.Quantized():
		return quantizers[v].Append(dst, block)
	case v != Half:
		return AppendScalars(dst, block...)
	}
	for _, x := range block {
		dst = binary.LittleEndian.AppendUint16(dst, scalar.Half(x))
	}
	return dst
}

// Round sets a block to what its receiver reads.
func (v Precision) Round(block []float32) {
	switch {
	case v.Quantized():
		var room [128]byte
		v.Decode(block, v.Append(room[:0], block...), 0)
	case v == Half:
		for i, x := range block {
			block[i] = scalar.FromHalf(scalar.Half(x))
		}
	}
}

// Scale appends to dst the blocks of n scalars of s, each scalar times a factor of 0 to 1. Scalars
// that are encoded by themselves are multiplied by the factor as a float32, and rounded to it and
// then to the precision. A block that shares a scale keeps its codes: its new scale is the largest
// binary16 that is at most r times the factor, so that no scalar is longer than it should be.
func (v Precision) Scale(dst, s Scalars, n int, factor float64) Scalars {
	if v.Quantized() {
		for size := v.Bytes(n); len(s) > 0; s = s[size:] {
			dst = quantizers[v].Scale(dst, s[:size], factor)
		}
		return dst
	}
	var one [1]float32
	for i := range v.Len(s) {
		v.Decode(one[:], s, i)
		dst = v.Append(dst, float32(float32(factor)*one[0]))
	}
	return dst
}
