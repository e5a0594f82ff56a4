package models

import "math"

// Rectifier and pooling compare the bits of floats as integers. For integers the compiler uses
// conditional moves, for floats it uses branches. The signs are random, so the processor would
// mispredict many of these branches, and the mispredictions would take as long as the matrix
// products. Floats whose sign bit is clear have the same order as their bits; floats whose sign
// bit is set are below 0 as floats and as integers.
//
// A NaN must pass through, because a loss that is not finite shows that a run diverged. The bits
// of a NaN with a clear sign bit are above the bits of all numbers, so this NaN passes. The
// rectifier drops a NaN with the sign bit set, the result of inf-inf on amd64; but as an unsigned
// integer, this NaN is above negativeInf, the largest bits of a number. So the functions here
// return the largest input as an unsigned integer: a result above negativeInf says that a NaN was
// dropped.
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
