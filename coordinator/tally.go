package coordinator

import (
	"github.com/zofl/zofl/mathx"
	"github.com/zofl/zofl/wire"
)

// A tally is the exact weighted sum of lists of scalars: the same bits in
// whatever order they came.
type tally struct {
	sums   []mathx.ExactSum
	weight uint64
	count  uint32
}

// reset empties t and makes it one of lists of n scalars.
func (t *tally) reset(n int) {
	if cap(t.sums) < n {
		t.sums = make([]mathx.ExactSum, n)
	}
	t.sums = t.sums[:n]
	clear(t.sums)
	t.weight, t.count = 0, 0
}

// add adds values, which are finite and at least as many as t has sums.
func (t *tally) add(values []float32, weight uint32) {
	for i := range t.sums {
		t.sums[i].Add(values[i], weight)
	}
	t.weight += uint64(weight)
	t.count++
}

// addScalars adds the finite numbers of a vector.
func (t *tally) addScalars(s wire.Scalars, weight uint32) {
	for i := range t.sums {
		t.sums[i].Add(s.At(i), weight)
	}
	t.weight += uint64(weight)
	t.count++
}

// means returns the mean of each scalar, rounded once to float32; none while t is empty.
func (t *tally) means() []float32 {
	if t.weight == 0 {
		return nil
	}
	means := make([]float32, len(t.sums))
	for i := range t.sums {
		means[i] = t.sums[i].Mean(t.weight)
	}
	return means
}
