package prng

import "math"

// NormalOf returns the normal that a word maps to: with f = float32(int32(word|1)) and c1, c0 the
// coefficients of the segment of f, it is float32(c1*f) + c0, odd in f. |f|/2^32 is about the
// one-sided tail probability of the result.
func NormalOf(word uint32) float32 { return table.normal(float32(int32(word | 1))) }

// tableLen is the length of the table into which init copies tableBits. The top bits of f, with the
// sign, are the index in that table. The table has unused entries for exponents of f that no word
// gives.
const tableLen = 1 << (9 + segmentBits)

func init() {
	for i, bits := range tableBits {
		c1, c0 := math.Float32frombits(bits[0]), math.Float32frombits(bits[1])
		k := 127<<segmentBits + i
		table.set(k, c1, c0)
		table.set(k|1<<(8+segmentBits), c1, -c0)
	}
}
