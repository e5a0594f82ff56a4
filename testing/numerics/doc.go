// Package numerics compares the linear algebra of mathx with gonum's. gonum uses other algorithms,
// in whatever order is fast. The tests cover the replicated operations, which have one order of
// rounding. They also cover package surrogate: they compare its updated factors, gradients and
// weights with those of a dense matrix that gonum factors from scratch.
package numerics
