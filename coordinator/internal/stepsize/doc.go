// Package stepsize finds the values that a plan leaves to its devices: mu, and the step of a round.
// It is pure, and knows no round and no frame.
//
// What it computes travels in records, so only a coordinator computes it, and replicas need not
// agree on it.
package stepsize
