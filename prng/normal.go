package prng

import "math"

// chunkLen is the number of elements that the normal and uniform kernels make at a time, 64 rows
// of 16: few enough that a level-1 cache of 16 KiB keeps them over the passes of the eight lanes.
const chunkLen = 1024

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

// fillNormal sets dst to the next chunk of normals.
func fillNormal(dst *[chunkLen]float32, l *lanes) {
	_ = dst[0] // check for nil here rather than in the loop
	for lane := range l {
		s0, s1 := l[lane][0], l[lane][1]
		var w uint64
		for i := 2 * lane; i < chunkLen-1; i += 16 {
			w, s0, s1 = next(s0, s1)
			dst[i] = normalOf(int32(w) | 1)
			dst[i+1] = normalOf(int32(w>>32) | 1)
		}
		l[lane] = [2]uint64{s0, s1}
	}
}

// perturbNormal sets dst to x plus a times the next chunk of normals.
func perturbNormal(dst, x *[chunkLen]float32, a float32, l *lanes) {
	_, _ = dst[0], x[0] // check for nil here rather than in the loop
	for lane := range l {
		s0, s1 := l[lane][0], l[lane][1]
		var w uint64
		for i := 2 * lane; i < chunkLen-1; i += 16 {
			w, s0, s1 = next(s0, s1)
			dst[i] = x[i] + float32(a*normalOf(int32(w)|1))
			dst[i+1] = x[i+1] + float32(a*normalOf(int32(w>>32)|1))
		}
		l[lane] = [2]uint64{s0, s1}
	}
}

// fillUniform sets dst to the next chunk of uniforms.
func fillUniform(dst *[chunkLen]float32, l *lanes) {
	_ = dst[0] // check for nil here rather than in the loop
	for lane := range l {
		s0, s1 := l[lane][0], l[lane][1]
		var w uint64
		for i := 2 * lane; i < chunkLen-1; i += 16 {
			w, s0, s1 = next(s0, s1)
			dst[i] = float32(int32(w)) * (1.0 / (1 << 31))
			dst[i+1] = float32(int32(w>>32)) * (1.0 / (1 << 31))
		}
		l[lane] = [2]uint64{s0, s1}
	}
}
