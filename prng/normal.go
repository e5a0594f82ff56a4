package prng

import "math"

// chunkLen is the number of elements that the normal and uniform kernels make at a time, 64 rows
// of 16: few enough that a level-1 cache of 16 KiB keeps them over the passes of the eight lanes.
const chunkLen = 1024

// bothOdd sets the lowest bit of either half of an output.
const bothOdd = 1<<32 | 1

type line struct{ c1, c0 float32 }

// table is tableBits spread out so that the top bits of f, sign included, index it directly. The
// exponents that no word has leave holes, which are never touched.
var table = func() (t [1 << (9 + segmentBits)]line) {
	for i, bits := range tableBits {
		c1, c0 := math.Float32frombits(bits[0]), math.Float32frombits(bits[1])
		k := 127<<segmentBits + i
		t[k] = line{c1, c0}
		t[k|1<<(8+segmentBits)] = line{c1, -c0}
	}
	return t
}()

// NormalOf returns the normal that a word maps to: with f = float32(int32(word|1)) and c1, c0 the
// coefficients of the segment of f, it is float32(c1*f) + c0, odd in f. |f|/2^32 approximates the
// one-sided tail probability of the result.
func NormalOf(word uint32) float32 { return normalOf(int32(word | 1)) }

func normalOf(odd int32) float32 {
	f := float32(odd)
	e := &table[math.Float32bits(f)>>(23-segmentBits)]
	return float32(e.c1*f) + e.c0
}

func fillNormal(dst *[chunkLen]float32, l *lanes) {
	for lane := range l {
		s0, s1 := l[lane][0], l[lane][1]
		var w uint64
		for i := 2 * lane; i < chunkLen-1; i += 16 {
			w, s0, s1 = next(s0, s1)
			w |= bothOdd
			dst[i] = normalOf(int32(w))
			dst[i+1] = normalOf(int32(w >> 32))
		}
		l[lane] = [2]uint64{s0, s1}
	}
}

func axpyNormal(dst *[chunkLen]float32, a float32, l *lanes) {
	for lane := range l {
		s0, s1 := l[lane][0], l[lane][1]
		var w uint64
		for i := 2 * lane; i < chunkLen-1; i += 16 {
			w, s0, s1 = next(s0, s1)
			w |= bothOdd
			dst[i] += float32(a * normalOf(int32(w)))
			dst[i+1] += float32(a * normalOf(int32(w>>32)))
		}
		l[lane] = [2]uint64{s0, s1}
	}
}

func fillUniform(dst *[chunkLen]float32, l *lanes) {
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
