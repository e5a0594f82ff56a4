package mathx

// Dot returns the inner product of a and b in float64. Dot adds in the order of [SumSquares]: the
// products in each block of 4096 elements, in ascending order, and then the sums of the blocks, in
// ascending order. A product of two float32 is exact.
//
//	for k := 0; k < len(a); k += 4096 {
//		var t float64
//		for i := k; i < min(k+4096, len(a)); i++ {
//			t += float64(float64(a[i]) * float64(b[i]))
//		}
//		s += t
//	}
//
// Dot(a, a) is SumSquares(a). A caller that has one block at a time gets the same bits by adding
// the Dot of each block. For many products of the same vectors use [Gram]. Dot panics if the
// lengths differ.
func Dot(a, b []float32) float64 {
	if len(b) != len(a) {
		panic(badLength)
	}
	var s float64
	for ; len(a) >= 4*block; a, b = a[4*block:], b[4*block:] {
		var t [4]float64
		dotFourBlocks((*[4 * block]float32)(a), (*[4 * block]float32)(b), &t)
		s += t[0]
		s += t[1]
		s += t[2]
		s += t[3]
	}
	for ; len(a) > block; a, b = a[block:], b[block:] {
		s += dotBlock(a[:block], b[:block])
	}
	return s + dotBlock(a, b)
}

// dotBlock returns the inner product of two vectors of at most block elements.
func dotBlock(a, b []float32) float64 {
	b = b[:len(a)]
	var t float64
	for i, v := range a {
		t += exact(v, b[i])
	}
	return t
}

// dotFourBlocksGeneric sets sums to the inner products of four blocks.
func dotFourBlocksGeneric(a, b *[4 * block]float32, sums *[4]float64) {
	a0, a1 := (*[block]float32)(a[:]), (*[block]float32)(a[block:])
	a2, a3 := (*[block]float32)(a[2*block:]), (*[block]float32)(a[3*block:])
	b0, b1 := (*[block]float32)(b[:]), (*[block]float32)(b[block:])
	b2, b3 := (*[block]float32)(b[2*block:]), (*[block]float32)(b[3*block:])
	var t0, t1, t2, t3 float64
	for i := range a0 {
		t0 += exact(a0[i], b0[i])
		t1 += exact(a1[i], b1[i])
		t2 += exact(a2[i], b2[i])
		t3 += exact(a3[i], b3[i])
	}
	*sums = [4]float64{t0, t1, t2, t3}
}

// exact returns a*b, which is exact in float64.
func exact(a, b float32) float64 { return float64(float64(a) * float64(b)) }
