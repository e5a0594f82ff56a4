package gather

import (
	"github.com/zofl/zofl/mathx"
	"github.com/zofl/zofl/wire"
)

// A tally is the exact weighted sum of lists of scalars: the same bits in
// whatever order they came.
type Tally struct {
	sums   []mathx.ExactSum
	Weight uint64
	Count  uint32
}

// reset empties t and makes it one of lists of n scalars.
func (t *Tally) Reset(n int) {
	if cap(t.sums) < n {
		t.sums = make([]mathx.ExactSum, n)
	}
	t.sums = t.sums[:n]
	clear(t.sums)
	t.Weight, t.Count = 0, 0
}

// add adds values, which are finite and at least as many as t has sums.
func (t *Tally) Add(values []float32, weight uint32) {
	for i := range t.sums {
		t.sums[i].Add(values[i], weight)
	}
	t.Weight += uint64(weight)
	t.Count++
}

// addScalars adds the finite numbers of a vector.
func (t *Tally) AddScalars(s wire.Scalars, weight uint32) {
	for i := range t.sums {
		t.sums[i].Add(s.At(i), weight)
	}
	t.Weight += uint64(weight)
	t.Count++
}

// means returns the mean of each scalar, rounded once to float32; none while t is empty.
func (t *Tally) Means() []float32 {
	if t.Weight == 0 {
		return nil
	}
	means := make([]float32, len(t.sums))
	for i := range t.sums {
		means[i] = t.sums[i].Mean(t.Weight)
	}
	return means
}
