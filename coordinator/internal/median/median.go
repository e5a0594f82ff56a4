// Package median computes medians of numbers from rounds, and limits values that exceed the median.
package median

import "slices"

// Window is how many rounds a running median looks back.
const Window = 15

// A Running is the running median of a positive number that each round has.
type Running struct {
	last [Window]float64 // at index rounds mod window
	n    int             // rounds so far
}

// Add adds a round's number. A number that is not positive is left out.
func (t *Running) Add(v float64) {
	if !(v > 0) {
		return
	}
	t.last[t.n%Window] = v
	t.n++
}

// Value returns the running median, 0 if there is none.
func (t *Running) Value() float64 {
	if t.n == 0 {
		return 0
	}
	return Lower(slices.Clone(t.last[:min(t.n, Window)]))
}

// Lower sorts v and returns its median, the lower one of two; 0 if v is empty.
func Lower(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	slices.Sort(v)
	return v[(len(v)-1)/2]
}

// Samples returns how many samples of a claim count: at most bound times what devices usually
// claim; all if bound is 0.
func Samples(bound float32, usual float64, claim uint32) uint32 {
	if bound == 0 {
		return claim
	}
	return uint32(min(float64(claim), max(float64(bound)*usual, 1)))
}
