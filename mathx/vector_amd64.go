//go:build !purego

package mathx

import "github.com/zofl/zofl/internal/isa"

// whole returns how many of n elements the assembly processes, a multiple of 8; Go code
// processes the rest.
func whole(n int) int {
	if isa.Current() < isa.AVX2 {
		return 0
	}
	return n &^ 7
}

func axpy(dst []float32, a float32, x []float32) {
	if n := whole(len(dst)); n > 0 {
		axpyAVX2(dst[:n], a, x)
		dst, x = dst[n:], x[n:]
	}
	axpyGeneric(dst, a, x)
}

func descend(x []float32, eta float32, v []float32) {
	if n := whole(len(x)); n > 0 {
		descendAVX2(x[:n], eta, v)
		x, v = x[n:], v[n:]
	}
	descendGeneric(x, eta, v)
}

func momentum(m []float32, beta, gain float32, v []float32) {
	if n := whole(len(m)); n > 0 {
		momentumAVX2(m[:n], beta, gain, v)
		m, v = m[n:], v[n:]
	}
	momentumGeneric(m, beta, gain, v)
}

func momentumStep(x, m []float32, beta, gain, eta float32, v []float32) {
	if n := whole(len(x)); n > 0 {
		momentumStepAVX2(x[:n], m, beta, gain, eta, v)
		x, m, v = x[n:], m[n:], v[n:]
	}
	momentumStepGeneric(x, m, beta, gain, eta, v)
}

func adaptiveStep(x, m, v, vhat []float32, c *Adaptive, delta []float32) {
	if n := whole(len(x)); n > 0 {
		adaptiveStepAVX2(x[:n], m, v, vhat,
			c.Alpha, c.Beta1, 1-c.Beta1, c.Beta2, 1-c.Beta2, c.Epsilon, delta)
		x, m, v, vhat, delta = x[n:], m[n:], v[n:], vhat[n:], delta[n:]
	}
	adaptiveStepGeneric(x, m, v, vhat, c, delta)
}

func adamStep(x, m, v []float32, c *Adaptive, delta []float32) {
	if n := whole(len(x)); n > 0 {
		adamStepAVX2(x[:n], m, v, c.Alpha, c.Beta1, 1-c.Beta1, c.Beta2, 1-c.Beta2, c.Epsilon, delta)
		x, m, v, delta = x[n:], m[n:], v[n:], delta[n:]
	}
	adamStepGeneric(x, m, v, c, delta)
}

func yogiStep(x, m, v []float32, c *Adaptive, delta []float32) {
	if n := whole(len(x)); n > 0 {
		yogiStepAVX2(x[:n], m, v, c.Alpha, c.Beta1, 1-c.Beta1, c.Beta2, 1-c.Beta2, c.Epsilon, delta)
		x, m, v, delta = x[n:], m[n:], v[n:], delta[n:]
	}
	yogiStepGeneric(x, m, v, c, delta)
}

func signStep(x []float32, alpha float32, delta []float32) {
	if n := whole(len(x)); n > 0 {
		signStepAVX2(x[:n], alpha, delta)
		x, delta = x[n:], delta[n:]
	}
	signStepGeneric(x, alpha, delta)
}

func scale(dst []float32, a float32, x []float32) {
	if n := whole(len(dst)); n > 0 {
		scaleAVX2(dst[:n], a, x)
		dst, x = dst[n:], x[n:]
	}
	scaleGeneric(dst, a, x)
}

func subtract(dst, a, b []float32) {
	if n := whole(len(dst)); n > 0 {
		subtractAVX2(dst[:n], a, b)
		dst, a, b = dst[n:], a[n:], b[n:]
	}
	subtractGeneric(dst, a, b)
}

func sumFourBlocks(x *[4 * block]float32, sums *[4]float64) {
	if isa.Current() < isa.AVX2 {
		sumFourBlocksGeneric(x, sums)
	} else {
		sumFourBlocksAVX2(x, sums)
	}
}

func dotFourBlocks(a, b *[4 * block]float32, sums *[4]float64) {
	if isa.Current() < isa.AVX2 {
		dotFourBlocksGeneric(a, b, sums)
	} else {
		dotFourBlocksAVX2(a, b, sums)
	}
}
