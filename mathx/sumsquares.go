package mathx

import "math"

// block is how many squares SumSquares sums before it adds their sum to the total. Package prng
// generates directions in blocks of the same length, so it can compute a direction's norm block by
// block.
const block = 4096

// SumSquares returns the sum of squares of x in float64. SumSquares adds the squares in each block
// of 4096 elements, in ascending order, and then the sums of the blocks, in ascending order.
//
//	for b := 0; b < len(x); b += 4096 {
//		var t float64
//		for _, v := range x[b:min(b+4096, len(x))] {
//			t += float64(float64(v) * float64(v))
//		}
//		s += t
//	}
//
// A caller that has one block at a time gets the same bits by adding the SumSquares of each block.
// SumSquares itself sums four blocks at the same time, because additions in different blocks do not
// wait for each other.
func SumSquares(x []float32) float64 {
	var s float64
	for ; len(x) >= 4*block; x = x[4*block:] {
		var t [4]float64
		sumFourBlocks((*[4 * block]float32)(x), &t)
		s += t[0]
		s += t[1]
		s += t[2]
		s += t[3]
	}
	for ; len(x) > block; x = x[block:] {
		s += sumBlock(x[:block])
	}
	return s + sumBlock(x)
}

// Norm returns the Euclidean length of the values: the correctly rounded root of
// [SumSquares]. No square of a finite value overflows or underflows.
//
//	return math.Sqrt(SumSquares(values))
func Norm(values []float32) float64 { return math.Sqrt(SumSquares(values)) }

// sumBlock returns the sum of squares of at most block elements.
func sumBlock(x []float32) float64 {
	var t float64
	for _, v := range x {
		t += square(v)
	}
	return t
}

// sumFourBlocksGeneric sets sums to the sums of squares of four blocks.
func sumFourBlocksGeneric(x *[4 * block]float32, sums *[4]float64) {
	x0, x1 := (*[block]float32)(x[:]), (*[block]float32)(x[block:])
	x2, x3 := (*[block]float32)(x[2*block:]), (*[block]float32)(x[3*block:])
	var t0, t1, t2, t3 float64
	for i := range x0 {
		t0 += square(x0[i])
		t1 += square(x1[i])
		t2 += square(x2[i])
		t3 += square(x3[i])
	}
	*sums = [4]float64{t0, t1, t2, t3}
}

// square returns v*v, which is exact in float64.
func square(v float32) float64 {
	w := float64(v)
	return float64(w * w)
}
