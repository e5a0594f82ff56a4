package gather

import (
	"cmp"
	"slices"

	"github.com/zofl/zofl/mathx"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/wire"
)

// Controls are exact weighted sums of control variates. Each group has the control variates along
// the directions of one record. The bits do not depend on the order of arrival.
//
// Invariant: groups ascend by n. A group's sums are sums[first:first+count], and every sum belongs
// to one group.
type Controls struct {
	groups []controlGroup
	sums   []mathx.ExactSum
}

// A controlGroup is the control variates along the directions of record n.
type controlGroup struct {
	n            uint64
	first, count int
}

// These constants bound, in bytes, the parts of a record other than a round's scalars.
const (
	roundRoom = 128 // without terms and slots
	termRoom  = 16
	slotRoom  = 5
)

func (t *Controls) Reset() { t.groups, t.sums = t.groups[:0], t.sums[:0] }

// find returns the index of record n's group, or where it would be.
func (t *Controls) find(n uint64) (at int, found bool) {
	return slices.BinarySearchFunc(t.groups, n,
		func(g controlGroup, n uint64) int { return cmp.Compare(g.n, n) })
}

// Add adds a control variate of record n; with n = 0 there is none. The scalars must be finite, and
// their number the same as in earlier variates of the same record.
func (t *Controls) Add(n uint64, values []float32, weight uint32) {
	if n == 0 {
		return
	}
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

// Terms appends the terms of record n: each sum divided by the weight of all contributors, whether
// they sent a control variate or not, rounded once to float32, and then to the precision.
func (t *Controls) Terms(terms []wire.Term, n, weight uint64,
	precision plan.Precision) []wire.Term {
	for _, g := range slices.Backward(t.groups) {
		var scalars wire.Scalars
		for i := range t.sums[g.first : g.first+g.count] {
			scalars = precision.Append(scalars, t.sums[g.first+i].Mean(weight))
		}
		terms = append(terms, wire.Term{Back: n - g.n, Source: prng.Shared, Scalars: scalars})
	}
	return terms
}

// Fits says whether the round's record has room for another control variate along record n, of size
// bytes, in addition to the round's mean of the given number of scalars. A valid plan has room for
// one variate from every contributor, but P may have been larger when devices made the
// variates.
func (t *Controls) Fits(n uint64, size int, plan *plan.Plan, scalars int) bool {
	if _, found := t.find(n); found {
		return true
	}
	terms := 1 + len(t.groups) + 1 // the mean, the groups so far, and this one
	bytes := plan.Precision.Bytes(scalars+len(t.sums)) + size
	return roundRoom+slotRoom*int(plan.Counted())+termRoom*terms+bytes <= wire.MaxRecord
}

// Count returns how many records have control variates.
func (t *Controls) Count() int { return len(t.groups) }
