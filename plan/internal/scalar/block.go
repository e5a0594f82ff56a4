package scalar

import (
	"encoding/binary"
	"math"

	"github.com/zofl/zofl/internal/half"
)

// A Quantizer encodes each scalar of a block in few bits, relative to a scale r of the block: the
// root of the scalars' mean square, as a binary16. A code q stands for
//
//	c = step r (q + 1/2),  q = floor(s / (step r)) in -2^(bits-1) .. 2^(bits-1)-1
//
// Every c is exact in float32, because r has 11 bits of significand, and step (q+1/2) has at most
// 10.
//
// A block is r, 2 bytes, and then 16-bit words, all little-endian. Codes are in two's complement;
// the first code is in the lowest bits of the first word. The unused bits of the last word are
// zero.
type Quantizer struct {
	bits int
	step float64
}

// The step of [Int2] is the step with the smallest mean square error for normal scalars, rounded to
// a fraction of few bits. With a step of 1, scalars that all have the same absolute value would be
// on an edge between codes: 1 would become 1.5, and -1 would become -0.5. [Int4] reaches to 2.5 r,
// with a mean square error 4 % above the smallest, and [Int8] reaches to 4 r.
var (
	Int8 = Quantizer{8, 1.0 / 32}
	Int4 = Quantizer{4, 0.3125}
	Int2 = Quantizer{2, 255.0 / 256}
)

const (
	wordBits = 16
	wordLen  = wordBits / 8
	scaleLen = 2
	infinite = 0x7c00 // the least binary16 that cannot be a scale
)

// Bytes returns the number of bytes of a block of n scalars.
func (z Quantizer) Bytes(n int) int {
	return scaleLen + (n*z.bits+wordBits-1)/wordBits*wordLen
}

// Append appends a block to dst. The scale is 0 if all scalars are 0 or nearly 0. The scale is
// infinite or NaN if a scalar is infinite or NaN, or if the scalars are too large. With such a
// scale all codes are 0.
func (z Quantizer) Append(dst []byte, block []float32) []byte {
	r := scaleOf(block)
	dst = binary.LittleEndian.AppendUint16(dst, r)
	unit := z.step * float64(half.Float32(r)) // exact
	least, most := -math.Ldexp(1, z.bits-1), math.Ldexp(1, z.bits-1)-1
	word, used := uint16(0), 0
	for _, s := range block {
		if r > 0 && r < infinite {
			q := int(min(max(math.Floor(float64(s)/unit), least), most))
			word |= uint16(q) & (1<<z.bits - 1) << used
		}
		if used += z.bits; used == wordBits {
			dst = binary.LittleEndian.AppendUint16(dst, word)
			word, used = 0, 0
		}
	}
	if used > 0 {
		dst = binary.LittleEndian.AppendUint16(dst, word)
	}
	return dst
}

// scaleOf returns the root of the mean square of a block: in float64, in order, and rounded to
// the nearest binary16, ties to even. A square of a float32 is exact.
func scaleOf(block []float32) uint16 {
	sum := 0.0
	for _, s := range block {
		sum += float64(float64(s) * float64(s))
	}
	r := math.Sqrt(sum / float64(max(1, len(block))))
	unit := spacing(r)
	return half.Of(float32(math.RoundToEven(r/unit) * unit)) // exact, or infinite
}

// spacing returns the distance of binary16s at r >= 0.
func spacing(r float64) float64 {
	_, exponent := math.Frexp(r)
	return math.Ldexp(1, max(exponent-11, -24))
}

// Decode sets dst to the scalars of block b, which has Bytes(len(dst)) bytes.
func (z Quantizer) Decode(dst []float32, b []byte) {
	r := float64(half.Float32(binary.LittleEndian.Uint16(b)))
	for i := range dst {
		dst[i] = float32(z.step * (float64(z.code(b, i)) + 0.5) * r)
	}
}

// code returns code i of a block.
func (z Quantizer) code(b []byte, i int) int16 {
	at := i * z.bits
	word := binary.LittleEndian.Uint16(b[scaleLen+at/wordBits*wordLen:])
	return int16(word<<(wordBits-z.bits-at%wordBits)) >> (wordBits - z.bits)
}

// Sound says whether Append can have made block b of n scalars, of Bytes(n) bytes: r is not
// infinite, NaN or negative, unused bits are zero, and if r = 0 all codes are 0.
func (z Quantizer) Sound(b []byte, n int) bool {
	r := binary.LittleEndian.Uint16(b)
	used := n * z.bits
	if r == 0 {
		used = 0
	}
	for at := 0; scaleLen+at/8 < len(b); at += wordBits {
		word := binary.LittleEndian.Uint16(b[scaleLen+at/8:])
		if used-at < wordBits && word>>max(0, used-at) != 0 {
			return false
		}
	}
	return r < infinite
}

// Scale appends to dst block b of n scalars times factor, of 0 to 1. Scale keeps the codes; the new
// scale is the largest binary16 that is at most r times factor. If the new scale is 0, Scale sets
// the codes to 0.
func (z Quantizer) Scale(dst, b []byte, factor float64) []byte {
	r := float64(half.Float32(binary.LittleEndian.Uint16(b))) * factor
	unit := spacing(r)
	scale := half.Of(float32(math.Floor(r/unit) * unit))
	at := len(dst) + scaleLen
	dst = append(binary.LittleEndian.AppendUint16(dst, scale), b[scaleLen:]...)
	if scale == 0 {
		clear(dst[at:])
	}
	return dst
}
