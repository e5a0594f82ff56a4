package gather

import (
	"github.com/zofl/zofl/mathx"
	"github.com/zofl/zofl/wire"
)

// A Tally is an exact weighted sum of lists of scalars. Its bits do not depend on the order in
// which values are added.
type Tally struct {
	sums   []mathx.ExactSum
	Weight uint64
	Count  uint32
}

// Reset empties t. The next lists have n scalars.
func (t *Tally) Reset(n int) {
	if cap(t.sums) < n {
		t.sums = make([]mathx.ExactSum, n)
	}
	t.sums = t.sums[:n]
	clear(t.sums)
	t.Weight, t.Count = 0, 0
}

// Len returns the number of scalars in each list.
func (t *Tally) Len() int { return len(t.sums) }

// Add adds values, which must be finite and at least as many as t has sums.
func (t *Tally) Add(values []float32, weight uint32) {
	for i := range t.sums {
		t.sums[i].Add(values[i], weight)
	}
	t.Weight += uint64(weight)
	t.Count++
}

// AddScalars adds a vector of finite numbers.
func (t *Tally) AddScalars(s wire.Scalars, weight uint32) {
	for i := range t.sums {
		t.sums[i].Add(s.At(i), weight)
	}
	t.Weight += uint64(weight)
	t.Count++
}

// Means returns the mean of each scalar, rounded once to float32, or nil while t is empty.
func (t *Tally) Means() []float32 {
	if t.Weight == 0 {
		return nil
	}
	return t.MeansOver(t.Weight)
}

// MeansOver returns each sum divided by weight, rounded once to float32.
func (t *Tally) MeansOver(weight uint64) []float32 {
	means := make([]float32, len(t.sums))
	for i := range t.sums {
		means[i] = t.sums[i].Mean(weight)
	}
	return means
}
