package late

import (
	"cmp"
	"slices"

	"github.com/zofl/zofl/coordinator/internal/gather"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/wire"
)

// A Batch holds contributions to earlier records until a later record counts them. A Batch sums
// contributions along shared directions exactly, for each record, so their bits do not depend on
// the order of arrival. A Batch keeps other contributions one by one.
//
// Invariants:
//  1. groups ascend by record, and none is empty.
//  2. Weight and Count are the sums over the groups.
type Batch struct {
	groups []group
	losses []report
	Weight uint64
	Count  uint32
}

// A group has the contributions to record n, which is the record of round number.
type group struct {
	n, number uint64
	size      int                  // scalars of a contribution
	sum       gather.Tally         // without scalars if directions are the devices' own
	each      gather.Contributions // if directions are the devices' own
}

// A report is the loss of a contribution to record n.
type report struct {
	n      uint64
	loss   float32
	weight uint32
}

// A Lateness says to which record a late contribution belongs.
type Lateness struct {
	N, Number uint64 // the record, and the number of its round
	Own       bool   // it is along the device's own directions
}

// Add adds a contribution. The values must be finite. All contributions to one record have the same
// number of values.
func (l *Batch) Add(of Lateness, slot uint32, values []float32, weight uint32, loss float32) {
	at, found := slices.BinarySearchFunc(l.groups, of.N,
		func(g group, n uint64) int { return cmp.Compare(g.n, n) })
	if !found {
		g := group{n: of.N, number: of.Number, size: len(values)}
		if !of.Own {
			g.sum.Reset(len(values))
		}
		g.each.Reset(len(values))
		l.groups = slices.Insert(l.groups, at, g)
	}
	g := &l.groups[at]
	if of.Own {
		g.each.Add(slot, values, weight)
	}
	g.sum.Add(values, weight)
	l.losses = append(l.losses, report{of.N, loss, weight})
	l.Weight += uint64(weight)
	l.Count++
}

// Keep drops the contributions to each record for which keep returns false. keep receives the
// record, the number of the record's round, and the number of scalars in a contribution.
func (l *Batch) Keep(keep func(n, number uint64, scalars int) bool) {
	drop := func(g group) bool {
		if keep(g.n, g.number, g.size) {
			return false
		}
		l.Weight -= g.sum.Weight
		l.Count -= g.sum.Count
		l.losses = slices.DeleteFunc(l.losses, func(v report) bool { return v.n == g.n })
		return true
	}
	l.groups = slices.DeleteFunc(l.groups, drop)
}

// Losses calls each with the loss and the weight of every contribution.
func (l *Batch) Losses(each func(loss float32, weight uint32)) {
	for _, v := range l.losses {
		each(v.loss, v.weight)
	}
}

// Terms appends the terms of the late contributions to terms, for record n of round number. The
// terms of newer records come first. weight is the weight of all contributions that record n
// counts, late or not.
//
// With shared directions an earlier record has one term, the sum of w g over its contributions
// divided by weight, rounded once to float32. Otherwise each contribution has a term. Terms
// multiplies the scalars of either kind of term by the discount, and rounds them to float32 and
// then to the plan's precision.
func (l *Batch) Terms(terms []wire.Term, n, number, weight uint64, p *plan.Plan) []wire.Term {
	for i := range slices.Backward(l.groups) {
		g, s := &l.groups[i], Discount(number-l.groups[i].number)
		if g.each.Len() > 0 {
			g.each.Sort()
			g.each.Scale(s)
			for _, t := range g.each.Terms(p.Precision) {
				t.Back = n - g.n
				terms = append(terms, t)
			}
			continue
		}
		mean := g.sum.MeansOver(weight)
		gather.Scale(mean, s)
		terms = append(terms, wire.Term{Back: n - g.n, Source: prng.Shared,
			Scalars: p.Precision.Append(nil, mean...)})
	}
	return terms
}

// Weights appends the weight of each contribution along a device's own directions, in the order of
// Terms. Call Terms before Weights.
func (l *Batch) Weights(weights []uint32) []uint32 {
	for i := range slices.Backward(l.groups) {
		weights = append(weights, l.groups[i].each.Weights()...)
	}
	return weights
}
