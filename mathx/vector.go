package mathx

// block is the length of a stretch whose squares are summed before the sums
// of stretches are: the block of the direction scheme, so that a norm can be
// taken while directions are made block by block.
const block = 4096

const badLength = "mathx: length mismatch"

// Axpy adds a multiple of x to dst.
//
//	for i := range dst {
//		dst[i] += float32(a * x[i])
//	}
//
// It panics if the lengths differ.
func Axpy(dst []float32, a float32, x []float32) {
	if len(x) != len(dst) {
		panic(badLength)
	}
	x = x[:len(dst)]
	for i := range dst {
		dst[i] += float32(a * x[i])
	}
}

// Descend makes a gradient step from x along v, of step size eta.
//
//	for i := range x {
//		x[i] -= float32(eta * v[i])
//	}
//
// It panics if the lengths differ.
func Descend(x []float32, eta float32, v []float32) {
	if len(v) != len(x) {
		panic(badLength)
	}
	v = v[:len(x)]
	for i := range x {
		x[i] -= float32(eta * v[i])
	}
}

// Momentum decays m by beta and adds v with the given gain: 1-beta for an
// exponential average, 1 for heavy-ball momentum.
//
//	for i := range m {
//		m[i] = float32(beta*m[i]) + float32(gain*v[i])
//	}
//
// It panics if the lengths differ.
func Momentum(m []float32, beta, gain float32, v []float32) {
	if len(v) != len(m) {
		panic(badLength)
	}
	v = v[:len(m)]
	for i := range m {
		m[i] = float32(beta*m[i]) + float32(gain*v[i])
	}
}

// SumSquares returns the sum of squares of x in float64: ascending within
// blocks of 4096 elements, then the sums of the blocks, ascending.
//
//	for b := 0; b < len(x); b += 4096 {
//		var t float64
//		for _, v := range x[b:min(b+4096, len(x))] {
//			t += float64(float64(v) * float64(v))
//		}
//		s += t
//	}
//
// A caller that sees one block at a time gets the same bits by adding
// SumSquares of each.
func SumSquares(x []float32) float64 {
	var s float64
	for len(x) > block {
		s += sumBlock(x[:block])
		x = x[block:]
	}
	return s + sumBlock(x)
}

func sumBlock(x []float32) float64 {
	var t float64
	for _, v := range x {
		w := float64(v)
		t += float64(w * w)
	}
	return t
}
