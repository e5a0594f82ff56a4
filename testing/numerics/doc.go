// Package numerics compares the linear algebra of mathx with gonum's, which uses other
// algorithms in whatever order is fast. It covers what is replicated, which has one order
// of rounding, and package surrogate, whose updated factors, gradients and weights it
// compares with those of a dense matrix factored from scratch.
package numerics
