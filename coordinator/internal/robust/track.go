package robust

import "slices"

// window is how many rounds a running median looks back.
const window = 15

// A track is the running median of a positive number that each round has.
type track struct {
	last [window]float64 // at index rounds mod window
	n    int             // rounds so far
}

// add adds a round's number. A number that is not positive is left out.
func (t *track) add(v float64) {
	if !(v > 0) {
		return
	}
	t.last[t.n%window] = v
	t.n++
}

// median returns the running median, 0 if there is none.
func (t *track) median() float64 {
	if t.n == 0 {
		return 0
	}
	return median(slices.Clone(t.last[:min(t.n, window)]))
}

// median sorts v and returns its median, the lower one of two; 0 if v is empty.
func median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	slices.Sort(v)
	return v[(len(v)-1)/2]
}
