// Package stepsize finds the values that a plan leaves to its devices: mu, and the step of a round.
// The package is pure, and handles no frames.
//
// The package's results are written to records, so only a coordinator computes them, and replicas
// need not repeat the computation.
package stepsize
