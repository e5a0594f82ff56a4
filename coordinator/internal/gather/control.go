package gather

import (
	"cmp"
	"slices"

	"github.com/zofl/zofl/mathx"
	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/wire"
)

// A controls is the exact weighted sums of control variates, those along the
// directions of one record together: the same bits in whatever order they came.
//
// Invariant: groups ascend by n; the sums of a group are sums[first:first+count],
// and every sum is of one group.
type Controls struct {
	groups []controlGroup
	sums   []mathx.ExactSum
}

// A controlGroup is the control variates of record n.
type controlGroup struct {
	n            uint64
	first, count int
}

// What a round takes in a record at most, besides the scalars of its terms.
const (
	roundRoom = 128 // without terms and slots
	termRoom  = 16
	slotRoom  = 5
)

func (t *Controls) Reset() { t.groups, t.sums = t.groups[:0], t.sums[:0] }

// find returns where the group of record n is, or would be.
func (t *Controls) find(n uint64) (at int, found bool) {
	return slices.BinarySearchFunc(t.groups, n, func(g controlGroup, n uint64) int { return cmp.Compare(g.n, n) })
}

// add adds a control variate, which is finite and of as many scalars as those of
// its record before.
func (t *Controls) Add(n uint64, values []float32, weight uint32) {
	at, found := t.find(n)
	if !found {
		t.groups = slices.Insert(t.groups, at, controlGroup{n, len(t.sums), len(values)})
		t.sums = slices.Grow(t.sums, len(values))[:len(t.sums)+len(values)]
		clear(t.sums[len(t.sums)-len(values):])
	}
	g := t.groups[at]
	sums := t.sums[g.first : g.first+g.count]
	for i := range sums {
		sums[i].Add(values[i], weight)
	}
}

// terms appends to terms those of record n: the sums divided by the weight of all
// contributors, with a control variate or without, rounded once to float32, and
// then to the precision.
func (t *Controls) Terms(terms []wire.Term, n, weight uint64, precision wire.Precision) []wire.Term {
	for _, g := range slices.Backward(t.groups) {
		var scalars wire.Scalars
		for i := range t.sums[g.first : g.first+g.count] {
			scalars = precision.Append(scalars, t.sums[g.first+i].Mean(weight))
		}
		terms = append(terms, wire.Term{Back: n - g.n, Source: prng.Shared, Scalars: scalars})
	}
	return terms
}

// fits says whether a round's record has room for another control variate of record
// n, which has size bytes, beside the round's mean, of scalars numbers. A plan is
// valid only if there is for those of its target; but P may have been larger when
// these were made.
func (t *Controls) Fits(n uint64, size int, plan *wire.Plan, scalars int) bool {
	if _, found := t.find(n); found {
		return true
	}
	terms := 1 + len(t.groups) + 1 // the mean, those before, and this one
	bytes := (scalars+len(t.sums))*plan.Precision.Width() + size
	return roundRoom+slotRoom*int(plan.Target)+termRoom*terms+bytes <= wire.MaxRecord
}

// count is how many older records have control variates.
func (t *Controls) Count() int { return len(t.groups) }
