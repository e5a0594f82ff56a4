package wire

import (
	"encoding/binary"

	"github.com/zofl/zofl/wire/internal/scalar"
)

// Scalars travel in blocks, one for each local step: a contribution is K blocks of P scalars, or
// one of P in a first phase. In [Single] and [Half] precision each scalar is encoded by itself, so
// several blocks are encoded, or decoded, as one of them all.

// Bytes returns the number of bytes of a block of n scalars.
func (v Precision) Bytes(n int) int { return n * v.width() }

// width is the number of bytes of a scalar.
func (v Precision) width() int {
	if v == Half {
		return 2
	}
	return 4
}

// Fits reports whether s is as long as so many blocks of n scalars each.
func (v Precision) Fits(s Scalars, blocks, n int) bool {
	return int64(len(s)) == int64(blocks)*int64(v.Bytes(n))
}

// Len returns the number of scalars in s, or -1 if s ends within one.
func (v Precision) Len(s Scalars) int {
	if len(s)%v.width() != 0 {
		return -1
	}
	return len(s) / v.width()
}

// Decode sets dst to block k of s, counted from 0. Every block has len(dst) scalars.
func (v Precision) Decode(dst []float32, s Scalars, k int) {
	s = s[k*v.Bytes(len(dst)):]
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

// Append appends a block to dst, each scalar rounded to nearest even.
func (v Precision) Append(dst Scalars, block ...float32) Scalars {
	if v != Half {
		return AppendScalars(dst, block...)
	}
	for _, x := range block {
		dst = binary.LittleEndian.AppendUint16(dst, scalar.Half(x))
	}
	return dst
}

// Round sets a block to what its receiver reads.
func (v Precision) Round(block []float32) {
	if v == Half {
		for i, x := range block {
			block[i] = scalar.FromHalf(scalar.Half(x))
		}
	}
}
