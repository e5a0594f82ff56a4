package mathx

import "math"

// These loops take one element at a time: the root and the division cost far more than the index.

func adaptiveStepGeneric(x, m, v, vhat []float32, c *Adaptive, delta []float32) {
	m, v, vhat, delta = m[:len(x)], v[:len(x)], vhat[:len(x)], delta[:len(x)]
	alpha, beta1, beta2, epsilon := c.Alpha, c.Beta1, c.Beta2, c.Epsilon
	gain1, gain2 := 1-beta1, 1-beta2
	for i := range x {
		d := delta[i]
		first := float32(beta1*m[i]) + float32(gain1*d)
		second := float32(beta2*v[i]) + float32(gain2*float32(d*d))
		greatest := vhat[i]
		if second > greatest {
			greatest = second
		}
		m[i], v[i], vhat[i] = first, second, greatest
		root := float32(math.Sqrt(float64(greatest + epsilon)))
		x[i] += float32(alpha * (first / root))
	}
}

func adamStepGeneric(x, m, v []float32, c *Adaptive, delta []float32) {
	m, v, delta = m[:len(x)], v[:len(x)], delta[:len(x)]
	alpha, beta1, beta2, epsilon := c.Alpha, c.Beta1, c.Beta2, c.Epsilon
	gain1, gain2 := 1-beta1, 1-beta2
	for i := range x {
		d := delta[i]
		first := float32(beta1*m[i]) + float32(gain1*d)
		second := float32(beta2*v[i]) + float32(gain2*float32(d*d))
		m[i], v[i] = first, second
		root := float32(math.Sqrt(float64(second + epsilon)))
		x[i] += float32(alpha * (first / root))
	}
}

// yogiStepGeneric reads the sign of v - d^2 from its bits, because a branch on it could not be
// predicted. It branches only on rare cases.
func yogiStepGeneric(x, m, v []float32, c *Adaptive, delta []float32) {
	m, v, delta = m[:len(x)], v[:len(x)], delta[:len(x)]
	alpha, beta1, beta2, epsilon := c.Alpha, c.Beta1, c.Beta2, c.Epsilon
	gain1, gain2 := 1-beta1, 1-beta2
	for i := range x {
		d := delta[i]
		first := float32(beta1*m[i]) + float32(gain1*d)
		second, square := v[i], float32(d*d)
		above := second - square // NaN between infinities, too, which are equal
		if above != 0 && above == above {
			sign := math.Float32bits(above) & (1 << 31)
			change := math.Float32bits(float32(gain2 * square))
			second -= math.Float32frombits(change ^ sign)
		}
		m[i], v[i] = first, second
		root := float32(math.Sqrt(float64(second + epsilon)))
		x[i] += float32(alpha * (first / root))
	}
}

func adaGradStepGeneric(x, m, v []float32, c *Adaptive, delta []float32) {
	m, v, delta = m[:len(x)], v[:len(x)], delta[:len(x)]
	alpha, beta1, epsilon := c.Alpha, c.Beta1, c.Epsilon
	gain1 := 1 - beta1
	for i := range x {
		d := delta[i]
		first := float32(beta1*m[i]) + float32(gain1*d)
		second := v[i] + float32(d*d)
		m[i], v[i] = first, second
		root := float32(math.Sqrt(float64(second + epsilon)))
		x[i] += float32(alpha * (first / root))
	}
}
