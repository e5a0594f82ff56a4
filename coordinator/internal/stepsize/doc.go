// Package stepsize finds the values that a plan leaves to its devices: mu, and the step of a round.
// It is pure, and knows no round and no frame.
//
// Its results travel in records, so only a coordinator computes them, and replicas need not agree
// on the computation.
package stepsize
