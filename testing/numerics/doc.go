// Package numerics holds the linear algebra of mathx against gonum's, which has other
// algorithms and whatever order is fast: what is replicated, which has one order of
// rounding, and package surrogate, whose updated factors, gradients and weights it
// compares with a dense matrix that is factored anew.
package numerics
