// Package median computes medians of numbers from rounds, and limits values that exceed the median.
package median

import (
	"encoding/binary"
	"math"
	"slices"
)

// Window is the number of the last rounds that a running median includes.
const Window = 15

// A Running is the running median of a positive number that each round has.
type Running struct {
	last [Window]float64 // at index rounds mod window
	n    int             // rounds so far
}

// Add adds a round's number. Add ignores a number that is not positive.
func (t *Running) Add(v float64) {
	if !(v > 0) {
		return
	}
	t.last[t.n%Window] = v
	t.n++
}

// Value returns the running median, or 0 if no number was added.
func (t *Running) Value() float64 {
	if t.n == 0 {
		return 0
	}
	return Lower(slices.Clone(t.last[:min(t.n, Window)]))
}

// Append appends to b what Read needs: the numbers of the last rounds, the oldest first.
func (t *Running) Append(b []byte) []byte {
	for i := max(t.n-Window, 0); i < t.n; i++ {
		b = binary.LittleEndian.AppendUint64(b, math.Float64bits(t.last[i%Window]))
	}
	return b
}

// Read replaces t by what Append wrote. Read returns false, and forgets everything, if Append
// cannot have written b.
func (t *Running) Read(b []byte) bool {
	var r Running
	for ; len(b) >= 8 && r.n < Window; b = b[8:] {
		v := math.Float64frombits(binary.LittleEndian.Uint64(b))
		if !(v > 0 && v <= math.MaxFloat64) {
			break
		}
		r.Add(v)
	}
	if *t = r; len(b) > 0 {
		*t = Running{}
	}
	return len(b) == 0
}

// Lower sorts v and returns its median; of an even number of values, the lower middle one. Lower
// returns 0 if v is empty.
func Lower(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	slices.Sort(v)
	return v[(len(v)-1)/2]
}

// Samples returns how many of the claimed samples count: at most bound times usual, the number that
// devices usually claim. If bound is 0, all claimed samples count.
func Samples(bound float32, usual float64, claim uint32) uint32 {
	if bound == 0 {
		return claim
	}
	return uint32(min(float64(claim), max(float64(bound)*usual, 1)))
}
