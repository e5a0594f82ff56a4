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

func sumFourBlocks(x *[4 * block]float32, sums *[4]float64) { sumFourBlocksGeneric(x, sums) }
