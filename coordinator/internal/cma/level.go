package cma

import (
	"math"
	"slices"
)

// A run is level once its least loss has not changed in 10 + 30 d/lambda records by more than
// rounding to float32 does, and the candidates' losses differ by less than a billionth of what they
// differed by. The second condition keeps a run going that gets better by less than a float32 of
// its least loss can show.
const (
	rounding = 0x1p-22 // two steps of a float32
	narrow   = 1e-9    // of the widest spread
	stopped  = 20      // records whose scalars were all 0
)

// A level follows the least losses of a run since it began, or began anew.
type level struct {
	low, high float64 // of the last records
	records   float64 // so many
	spread    float64 // of the last record's scalars
	widest    float64 // the widest spread
	zeros     float64 // records in a row whose scalars were all 0
}

// follow takes the least loss and the scalars of a record.
func (l *level) follow(loss float64, scalars []float32) {
	low, high := min(l.low, loss), max(l.high, loss)
	if l.records++; l.records == 1 || high-low > rounding*max(math.Abs(low), math.Abs(high)) {
		low, high, l.records = loss, loss, 1
	}
	l.low, l.high = low, high
	l.spread = spread(scalars)
	l.widest = max(l.widest, l.spread)
	if l.zeros++; slices.Max(scalars) > slices.Min(scalars) {
		l.zeros = 0
	}
}

// is says whether the run is level.
func (l *level) is(dim, candidates float64) bool {
	return l.widest > 0 && (l.zeros >= stopped ||
		l.records >= 10+30*dim/candidates && l.spread <= narrow*l.widest)
}

// still says whether no candidate ever had another loss than the others.
func (l *level) still() bool { return l.zeros >= stopped && l.widest == 0 }

// spread is the range of the better half of a record's scalars. A candidate without a finite loss
// is not in it.
func spread(v []float32) float64 {
	sorted := slices.Sorted(slices.Values(v))
	return float64(sorted[len(v)/2]) - float64(sorted[0])
}
