package mathx

//go:generate go -C ../internal/asm run ./mathx -out ../../mathx/vector_amd64.s -stubs ../../mathx/vector_stubs_amd64.go -pkg mathx

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
	axpy(dst, a, x)
}

// Descend makes a gradient step of x along v with step size eta.
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
	descend(x, eta, v)
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
	momentum(m, beta, gain, v)
}

// MomentumStep is [Momentum] of m along v, followed by [Descend] of x along m, with the
// same bits, in one pass over memory. Parts of a vector with different step sizes need a
// call each.
//
//	for i := range x {
//		m[i] = float32(beta*m[i]) + float32(gain*v[i])
//		x[i] -= float32(eta * m[i])
//	}
//
// It panics if the lengths differ.
func MomentumStep(x, m []float32, beta, gain, eta float32, v []float32) {
	if len(m) != len(x) || len(v) != len(x) {
		panic(badLength)
	}
	momentumStep(x, m, beta, gain, eta, v)
}

// Scale sets dst to a multiple of x.
//
//	for i := range dst {
//		dst[i] = a * x[i]
//	}
//
// It panics if the lengths differ.
func Scale(dst []float32, a float32, x []float32) {
	if len(x) != len(dst) {
		panic(badLength)
	}
	scale(dst, a, x)
}

// Sub sets dst, which may be a or b, to their difference.
//
//	for i := range dst {
//		dst[i] = a[i] - b[i]
//	}
//
// It panics if the lengths differ.
func Sub(dst, a, b []float32) {
	if len(a) != len(dst) || len(b) != len(dst) {
		panic(badLength)
	}
	subtract(dst, a, b)
}
