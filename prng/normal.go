package prng

import "math"

// table is tableBits spread out so that the top bits of f, sign included, index it directly. The
// exponents that no word has leave holes, which are never touched. The gap puts c1 and c0 of one
// segment into different sets of a cache whose ways are 4 KiB; two arrays rather than one of
// pairs, because Go folds such an index into the instruction that loads.
var table struct {
	c1 [1 << (9 + segmentBits)]float32
	_  [512]float32
	c0 [1 << (9 + segmentBits)]float32
}

func init() {
	for i, bits := range tableBits {
		c1, c0 := math.Float32frombits(bits[0]), math.Float32frombits(bits[1])
		k := 127<<segmentBits + i
		table.c1[k], table.c0[k] = c1, c0
		k |= 1 << (8 + segmentBits)
		table.c1[k], table.c0[k] = c1, -c0
	}
}

// NormalOf returns the normal that a word maps to: with f = float32(int32(word|1)) and c1, c0 the
// coefficients of the segment of f, it is float32(c1*f) + c0, odd in f. |f|/2^32 is about the
// one-sided tail probability of the result.
func NormalOf(word uint32) float32 { return normalOf(int32(word | 1)) }

func normalOf(odd int32) float32 {
	f := float32(odd)
	k := math.Float32bits(f) >> (23 - segmentBits)
	return float32(table.c1[k]*f) + table.c0[k]
}
