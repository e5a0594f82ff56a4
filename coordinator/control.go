package coordinator

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
type controls struct {
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

func (t *controls) reset() { t.groups, t.sums = t.groups[:0], t.sums[:0] }

// find returns where the group of record n is, or would be.
func (t *controls) find(n uint64) (at int, found bool) {
	return slices.BinarySearchFunc(t.groups, n, func(g controlGroup, n uint64) int { return cmp.Compare(g.n, n) })
}

// add adds a control variate, which is finite and of as many scalars as those of
// its record before.
func (t *controls) add(n uint64, values []float32, weight uint32) {
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
func (t *controls) terms(terms []wire.Term, n, weight uint64, precision wire.Precision) []wire.Term {
	for _, g := range slices.Backward(t.groups) {
		var scalars wire.Scalars
		for i := range t.sums[g.first : g.first+g.count] {
			scalars = precision.Append(scalars, t.sums[g.first+i].Mean(weight))
		}
		terms = append(terms, wire.Term{Back: n - g.n, Source: prng.Shared, Scalars: scalars})
	}
	return terms
}

// controlOf reads the control variate of a contribution to c.control, and returns
// its record, 0 if there is none; or the counter of what is wrong with it.
func (c *core) controlOf(r *wire.Reply) (n uint64, fault *uint64) {
	if c.plan.Control == wire.NoControl || c.round.phase == 1 {
		return 0, nil
	}
	wrong := &c.counters.WrongControl
	v, ok := wire.ControlVariate{}, false
	if len(r.Rest) > 0 {
		v, ok = r.Control()
	}
	if !ok {
		if c.round.phase == 2 {
			return 0, wrong
		}
		return 0, nil // a device that has not contributed
	}
	precision := c.plan.Precision
	if want, ok := c.controlScalars(v.N); !ok || precision.Len(v.Scalars) != want {
		return 0, wrong
	}
	if largest := read(&c.control, precision, v.Scalars); !(largest <= c.plan.MaxScalar) {
		return 0, wrong // a NaN is not below anything
	}
	if !c.controlFits(&v) {
		return 0, &c.counters.Overflow
	}
	return v.N, nil
}

// controlScalars returns how many scalars a control variate of record n has, if
// one can be of it.
func (c *core) controlScalars(n uint64) (scalars int, ok bool) {
	if c.round.phase == 2 {
		return int(c.point.perturbations), n == c.point.n
	}
	perturbations, ok := c.history.round(n, c.n)
	return int(c.plan.Steps) * int(perturbations), ok
}

// controlFits says whether the round's record has room for a control variate. A
// plan is valid only if there is for those of its target; but P may have been
// larger when these were made.
func (c *core) controlFits(v *wire.ControlVariate) bool {
	t := &c.controls
	if _, found := t.find(v.N); found {
		return true
	}
	terms := 1 + len(t.groups) + 1 // the mean, those before, and this one
	scalars := (c.round.scalars+len(t.sums))*c.plan.Precision.Width() + len(v.Scalars)
	return roundRoom+slotRoom*int(c.plan.Target)+termRoom*terms+scalars <= wire.MaxRecord
}
