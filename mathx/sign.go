package mathx

import "math"

// SignStep moves each element of x by alpha, up or down as the sign of the element of delta says.
// delta is the mean move of a round's clients, so SignStep is signSGD applied by the server.
// SignStep needs no state.
//
//	for i, d := range delta {
//		switch {
//		case d > 0:
//			x[i] += alpha
//		case d < 0:
//			x[i] -= alpha
//		case d != d:
//			x[i] = d
//		}
//	}
//
// Where delta is a zero of either sign, the bits of x stay the same. Where delta is NaN, x becomes
// NaN, as with every other rule, so that the coordinator can detect divergence. SignStep panics if
// the lengths differ.
func SignStep(x []float32, alpha float32, delta []float32) {
	if len(delta) != len(x) {
		panic(badLength)
	}
	signStep(x, alpha, delta)
}

// signStepGeneric branches only on zero and NaN, which are rare. The loop has no branch on the
// sign, because processors cannot predict signs.
func signStepGeneric(x []float32, alpha float32, delta []float32) {
	delta = delta[:len(x)]
	for i, d := range delta {
		if d == 0 {
			continue
		}
		if d != d {
			x[i] = d
			continue
		}
		sign := math.Float32bits(d) & (1 << 31)
		x[i] += math.Float32frombits(math.Float32bits(alpha) ^ sign)
	}
}
