// Package numerics holds the replicated linear algebra of mathx, which has one
// order of rounding, against gonum's, which has other algorithms and whatever
// order is fast.
package numerics
