package models

import "math"

// Rectifier and pooling compare floats by their bits, as the processor moves
// integers conditionally, but must branch for floats: the sign is random, and
// branches guessed wrong would take as long as the products. Among values whose
// sign bit is clear, and 0, the order of the bits is the order of the floats;
// those with the sign bit set are below 0 either way.
//
// A NaN must pass through, because a loss that is not finite shows that a run diverged. One with a
// clear sign is above all numbers. One with the sign bit set, which is what inf-inf makes on amd64,
// is above all others as unsigned integers: the functions here return the largest of these, which
// is above negativeInf if a NaN was lost.
const negativeInf = 0xff800000

// rectify computes dst[i*to] = max(src[i*from], 0) for n elements.
func rectify(dst []float32, to int, src []float32, from, n int) (most uint32) {
	for i := range n {
		b := math.Float32bits(src[i*from])
		most = max(most, b)
		dst[i*to] = math.Float32frombits(uint32(max(int32(b), 0)))
	}
	return most
}

// pool2 computes
//
//	dst[i*to] = max(above[2*i*from], above[(2*i+1)*from],
//	                below[2*i*from], below[(2*i+1)*from], 0)
//
// for n elements.
func pool2(dst []float32, to int, above, below []float32, from, n int) (most uint32) {
	at := 0
	for i := range n {
		a, b := math.Float32bits(above[at]), math.Float32bits(above[at+from])
		c, d := math.Float32bits(below[at]), math.Float32bits(below[at+from])
		at += 2 * from
		most = max(most, a, b, c, d)
		v := max(int32(a), int32(b), int32(c), int32(d), 0)
		dst[i*to] = math.Float32frombits(uint32(v))
	}
	return most
}
