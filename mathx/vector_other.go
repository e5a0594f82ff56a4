//go:build !amd64 || purego

package mathx

func axpy(dst []float32, a float32, x []float32) { axpyGeneric(dst, a, x) }

func descend(x []float32, eta float32, v []float32) { descendGeneric(x, eta, v) }

func momentum(m []float32, beta, gain float32, v []float32) { momentumGeneric(m, beta, gain, v) }

func momentumStep(x, m []float32, beta, gain, eta float32, v []float32) {
	momentumStepGeneric(x, m, beta, gain, eta, v)
}

func adaptiveStep(x, m, v, vhat []float32, c *Adaptive, delta []float32) {
	adaptiveStepGeneric(x, m, v, vhat, c, delta)
}

func adamStep(x, m, v []float32, c *Adaptive, delta []float32) {
	adamStepGeneric(x, m, v, c, delta)
}

func yogiStep(x, m, v []float32, c *Adaptive, delta []float32) {
	yogiStepGeneric(x, m, v, c, delta)
}

func signStep(x []float32, alpha float32, delta []float32) { signStepGeneric(x, alpha, delta) }

func scale(dst []float32, a float32, x []float32) { scaleGeneric(dst, a, x) }

func subtract(dst, a, b []float32) { subtractGeneric(dst, a, b) }

func sumFourBlocks(x *[4 * block]float32, sums *[4]float64) { sumFourBlocksGeneric(x, sums) }

func dotFourBlocks(a, b *[4 * block]float32, sums *[4]float64) {
	dotFourBlocksGeneric(a, b, sums)
}
