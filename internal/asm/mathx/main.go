// Command mathx generates the assembly of package mathx.
//
// Each kernel is the loop in its Go function's doc, eight elements at a time, with the
// same operations, each of which rounds once. No instruction fuses a product and a sum.
package main

import . "github.com/mmcloughlin/avo/build"

func main() {
	ConstraintExpr("!purego")
	for _, p := range []pass{
		{
			name: "axpy", signature: "func(dst []float32, a float32, x []float32)",
			vectors: []string{"dst", "x"}, scalars: []string{"a"}, unroll: 4, step: axpy,
		},
		{
			name: "descend", signature: "func(x []float32, eta float32, v []float32)",
			vectors: []string{"x", "v"}, scalars: []string{"eta"}, unroll: 4, step: descend,
		},
		{
			name: "momentum", signature: "func(m []float32, beta, gain float32, v []float32)",
			vectors: []string{"m", "v"}, scalars: []string{"beta", "gain"}, unroll: 4,
			step: func(c constants, at operands) { momentum(c, at) },
		},
		{
			name:      "momentumStep",
			signature: "func(x, m []float32, beta, gain, eta float32, v []float32)",
			vectors:   []string{"x", "m", "v"}, scalars: []string{"beta", "gain", "eta"}, unroll: 4,
			step: momentumStep,
		},
		{
			name: "adaptiveStep",
			signature: "func(x, m, v, vhat []float32, " +
				"alpha, beta1, gain1, beta2, gain2, epsilon float32, delta []float32)",
			vectors: []string{"x", "m", "v", "vhat", "delta"},
			scalars: []string{"alpha", "beta1", "gain1", "beta2", "gain2", "epsilon"}, unroll: 2,
			step: adaptiveStep,
		},
		twoMoments("adamStep", adamStep),
		twoMoments("yogiStep", yogiStep),
		{
			name: "signStep", signature: "func(x []float32, alpha float32, delta []float32)",
			vectors: []string{"x", "delta"}, scalars: []string{"alpha"}, unroll: 2, step: signStep,
		},
		{
			name: "scale", signature: "func(dst []float32, a float32, x []float32)",
			vectors: []string{"dst", "x"}, scalars: []string{"a"}, unroll: 4, step: scale,
		},
		{
			name: "subtract", signature: "func(dst, a, b []float32)",
			vectors: []string{"dst", "a", "b"}, unroll: 4, step: subtract,
		},
	} {
		p.write()
	}
	squares()
	dots()
	subspace()
	Generate()
}

// twoMoments returns the pass of a rule with state m and v.
func twoMoments(name string, step func(constants, operands)) pass {
	return pass{
		name: name,
		signature: "func(x, m, v []float32, " +
			"alpha, beta1, gain1, beta2, gain2, epsilon float32, delta []float32)",
		vectors: []string{"x", "m", "v", "delta"},
		scalars: []string{"alpha", "beta1", "gain1", "beta2", "gain2", "epsilon"}, unroll: 2,
		step: step,
	}
}
