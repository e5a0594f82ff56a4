package plan

import "github.com/zofl/zofl/plan/internal/scalar"

// Precision is how scalars are encoded in frames and records.
//
// Contributions and records hold scalars in blocks, one block for each local step: a contribution
// is K blocks of P scalars, or one block of P in a first phase. In [Single] and [Half] precision
// each scalar is encoded by itself, so a caller may encode or decode several blocks as one. In the
// other precisions the scalars of a block share a scale, so each code depends on the whole block.
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

// Quantized says whether the scalars of a block share a scale.
func (v Precision) Quantized() bool { return scalar.Code(v).Quantized() }

// Bytes returns the number of bytes of a block of n scalars.
func (v Precision) Bytes(n int) int { return scalar.Code(v).Bytes(n) }

// Fits says whether s is as long as this many blocks of n scalars each. If the scalars share a
// scale, Fits also checks that Append can make each block of finite scalars; otherwise any bits
// fit.
func (v Precision) Fits(s []byte, blocks, n int) bool { return scalar.Code(v).Fits(s, blocks, n) }

// Len returns the number of scalars in s. Len returns -1 if s ends within a scalar, or if the
// scalars of a block share a scale, because then the length does not determine the number.
func (v Precision) Len(s []byte) int { return scalar.Code(v).Len(s) }

// Decode sets dst to block k of s, counted from 0. Every block has len(dst) scalars.
func (v Precision) Decode(dst []float32, s []byte, k int) { scalar.Code(v).Decode(dst, s, k) }

// Values returns the scalars of this many blocks of n, or nil if s does not fit them.
func (v Precision) Values(s []byte, blocks, n int) []float32 {
	if !v.Fits(s, blocks, n) {
		return nil
	}
	values := make([]float32, blocks*n)
	for k := range blocks {
		v.Decode(values[k*n:(k+1)*n], s, k)
	}
	return values
}

// Read is Values for scalars that share scales. For other scalars Read returns as many as s has.
func (v Precision) Read(s []byte, blocks, n int) []float32 {
	if !v.Quantized() {
		blocks, n = 1, v.Len(s)
	}
	return v.Values(s, blocks, n)
}

// Append appends a block to dst. Append rounds scalars that are encoded by themselves to nearest
// even. Where a block's scalars share a scale, Append writes an infinite scale, or NaN, if a scalar
// is not finite or if the scalars are too large. Fits refuses such a block, and Round returns
// values that are not finite.
func (v Precision) Append(dst []byte, block ...float32) []byte {
	return scalar.Code(v).Append(dst, block)
}

// Round sets a block to the values that its receiver reads.
func (v Precision) Round(block []float32) { scalar.Code(v).Round(block) }

// Scale appends to dst the blocks of n scalars of s, each scalar times a factor of 0 to 1. Scale
// multiplies a scalar that is encoded by itself by the factor as a float32, and rounds the product
// to float32 and then to the precision. Where a block's scalars share a scale r, Scale keeps their
// codes. The new scale is the largest binary16 that is at most r times the factor, so that no
// scalar becomes larger than its exact product.
func (v Precision) Scale(dst, s []byte, n int, factor float64) []byte {
	return scalar.Code(v).Scale(dst, s, n, factor)
}
