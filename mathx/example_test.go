package mathx_test

import (
	"fmt"

	"github.com/zofl/zofl/mathx"
)

// Replies in any order, or summed in groups first, have the same mean, because ExactSum rounds only
// after the division.
func ExampleExactSum() {
	var near, far, all mathx.ExactSum
	near.Add(1e30, 3)
	far.Add(-1e30, 3)
	far.Add(0.75, 2)
	all.Merge(&near)
	all.Merge(&far)
	fmt.Println(all.Mean(8))
	// Output: 0.1875
}

// MomentumStep makes heavy-ball steps on f(x) = x*x/2, whose gradient is x.
func ExampleMomentumStep() {
	x, m := []float32{8, -4}, make([]float32, 2)
	for range 3 {
		mathx.MomentumStep(x, m, 0.5, 1, 0.25, x)
		fmt.Println(x, m)
	}
	// Output:
	// [6 -3] [8 -4]
	// [3.5 -1.75] [10 -5]
	// [1.375 -0.6875] [8.5 -4.25]
}

// The delta of the second element is a hundredth of the first element's delta, but the steps of
// both elements are nearly equal.
func ExampleAdaptiveStep() {
	x, m := make([]float32, 2), make([]float32, 2)
	v, vhat := make([]float32, 2), make([]float32, 2)
	c := mathx.Adaptive{Alpha: 0.5, Beta1: 0.75, Beta2: 0.75, Epsilon: 1e-8}
	mathx.AdaptiveStep(x, m, v, vhat, c, []float32{1, -0.01})
	fmt.Println(x, m, v)
	// Output: [0.25 -0.24994999] [0.25 -0.0025] [0.25 2.5e-05]
}

// The second move adds a direction to the subspace of the first. The third move adds none.
func ExampleOrthonormalize() {
	moves := [][]float32{{3, 4, 0}, {3, 4, 2}, {0, 0, 1}}
	r := make([]float64, mathx.GramLen(len(moves)))
	mathx.Gram(r, moves)
	rank := mathx.Cholesky(r, r)
	mathx.Orthonormalize(moves, moves, r)
	fmt.Println(rank, moves)
	// Output: 2 [[0.6 0.8 0] [0 0 1] [0 0 0]]
}

// A server's momentum: m = m/2 + delta, x += 0.25*m.
func ExampleMomentumStep_server() {
	x, m := []float32{1, 1}, make([]float32, 2)
	for range 2 {
		mathx.MomentumStep(x, m, 0.5, 1, -0.25, []float32{4, -2})
		fmt.Println(x, m)
	}
	// Output:
	// [2 0.5] [4 -2]
	// [3.5 -0.25] [6 -3]
}

// All steps have the same length, whatever the length of the move.
func ExampleSignStep() {
	x := make([]float32, 3)
	mathx.SignStep(x, 0.5, []float32{1e-6, 0, -1e6})
	fmt.Println(x)
	// Output: [0.5 0 -0.5]
}
