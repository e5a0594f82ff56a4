package mathx

// Adaptive holds the coefficients of [AdaptiveStep], [AdamStep], [YogiStep] and [AdaGradStep],
// named as in ZO-AdaFL. Section 5.2 of that paper sets Alpha 0.02, Beta1 0.9, Beta2 0.99 and
// Epsilon 1e-8.
type Adaptive struct {
	// Alpha is the global step size, alpha_t.
	Alpha float32
	// Beta1 and Beta2, in [0,1), are the decay factors of the first and the second moment.
	Beta1, Beta2 float32
	// Epsilon, above zero, is added to the second moment before the square root is taken.
	Epsilon float32
}

// AdaptiveStep makes a global update of ZO-AdaFL (Algorithm 1, lines 14 to 16, the rule
// of AMSGrad) along delta, the mean move of a round's clients (line 13). m and v are the
// moments of equations (2) and (3), vhat is the largest v so far, and x takes the step of
// equation (4) with vhat. delta is a move, not a gradient, so x moves along it.
//
//	gain1, gain2 := 1-c.Beta1, 1-c.Beta2
//	for i, d := range delta {
//		m[i] = float32(c.Beta1*m[i]) + float32(gain1*d)
//		v[i] = float32(c.Beta2*v[i]) + float32(gain2*float32(d*d))
//		if v[i] > vhat[i] {
//			vhat[i] = v[i]
//		}
//		root := float32(math.Sqrt(float64(vhat[i] + c.Epsilon)))
//		x[i] += float32(c.Alpha * (m[i] / root))
//	}
//
// The root and the quotient are each rounded once to float32. An element of vhat keeps its bits if
// that element or v[i] is NaN, or if both are zeros of different signs.
//
// AdaptiveStep does not correct the moments for their initial values. The caller chooses these: m
// starts at 0; v and vhat start at 0 in line 1 of the algorithm, and at 1e-5 in the paper's section
// 5.2. AdaptiveStep panics if the lengths differ.
func AdaptiveStep(x, m, v, vhat []float32, c Adaptive, delta []float32) {
	n := len(x)
	if len(m) != n || len(v) != n || len(vhat) != n || len(delta) != n {
		panic(badLength)
	}
	adaptiveStep(x, m, v, vhat, &c, delta)
}

// AdamStep makes a global update of ZO-AdaFL, equations (2) to (4), without line 15 of its
// algorithm. This update is FedAdam with epsilon under the root. Unlike [AdaptiveStep], AdamStep
// divides by the root of v, not of the largest v so far. So AdamStep needs one vector less than
// AdaptiveStep.
//
//	gain1, gain2 := 1-c.Beta1, 1-c.Beta2
//	for i, d := range delta {
//		m[i] = float32(c.Beta1*m[i]) + float32(gain1*d)
//		v[i] = float32(c.Beta2*v[i]) + float32(gain2*float32(d*d))
//		root := float32(math.Sqrt(float64(v[i] + c.Epsilon)))
//		x[i] += float32(c.Alpha * (m[i] / root))
//	}
//
// AdamStep rounds as AdaptiveStep does, and takes the same initial values. AdamStep panics if
// the lengths differ.
func AdamStep(x, m, v []float32, c Adaptive, delta []float32) {
	n := len(x)
	if len(m) != n || len(v) != n || len(delta) != n {
		panic(badLength)
	}
	adamStep(x, m, v, &c, delta)
}

// YogiStep is [AdamStep] with the second moment of FedYogi (Reddi et al., Adaptive Federated
// Optimization, Algorithm 2): v -= (1-beta2) * d^2 * sign(v - d^2). So v changes by at most
// (1-Beta2) times the square. YogiStep adds Epsilon to v under the root; the paper adds it to the
// root.
//
//	gain1, gain2 := 1-c.Beta1, 1-c.Beta2
//	for i, d := range delta {
//		m[i] = float32(c.Beta1*m[i]) + float32(gain1*d)
//		square := float32(d*d)
//		if v[i] > square {
//			v[i] -= float32(gain2*square)
//		} else if v[i] < square {
//			v[i] += float32(gain2*square)
//		}
//		root := float32(math.Sqrt(float64(v[i] + c.Epsilon)))
//		x[i] += float32(c.Alpha * (m[i] / root))
//	}
//
// v[i] keeps its bits if it equals the square, or if v[i] or the square is NaN. If d is NaN, m[i]
// and x[i] become NaN. YogiStep rounds as AdaptiveStep does, and needs the same initial values.
// YogiStep panics if the lengths differ.
func YogiStep(x, m, v []float32, c Adaptive, delta []float32) {
	n := len(x)
	if len(m) != n || len(v) != n || len(delta) != n {
		panic(badLength)
	}
	yogiStep(x, m, v, &c, delta)
}

// AdaGradStep is [AdamStep] with the second moment of FedAdagrad (Reddi et al., Adaptive Federated
// Optimization, Algorithm 2), the sum of all squares. AdaGradStep adds Epsilon to v under the root;
// the paper adds it to the root. AdaGradStep does not use Beta2.
//
//	gain1 := 1-c.Beta1
//	for i, d := range delta {
//		m[i] = float32(c.Beta1*m[i]) + float32(gain1*d)
//		v[i] += float32(d*d)
//		root := float32(math.Sqrt(float64(v[i] + c.Epsilon)))
//		x[i] += float32(c.Alpha * (m[i] / root))
//	}
//
// AdaGradStep rounds as AdaptiveStep does, and takes the same initial values. AdaGradStep panics if
// the lengths differ.
func AdaGradStep(x, m, v []float32, c Adaptive, delta []float32) {
	n := len(x)
	if len(m) != n || len(v) != n || len(delta) != n {
		panic(badLength)
	}
	adaGradStepGeneric(x, m, v, &c, delta)
}
