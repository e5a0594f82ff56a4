package client_test

import (
	"cmp"
	"maps"
	"math"
	"slices"

	"github.com/zofl/zofl/mathx"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/wire"
)

// phase returns the phase of the round that the next record makes, and the record of its phase
// 1.
func (h *host) phase() (phase uint8, point uint64) {
	if h.plan.Phases() == 1 {
		return 0, 0
	}
	for n := h.last(); ; n-- {
		r, err := wire.DecodeRecord(h.records[n-1])
		switch {
		case err != nil:
			h.t.Fatal(err)
		case r.Kind == wire.KindRollback:
			n = r.To + 1
		case r.Kind == wire.KindRound && r.Round.Phase == 1:
			return 2, n
		case r.Kind == wire.KindRound, r.Kind == wire.KindPlan:
			return 1, 0
		}
	}
}

// conclude commits a round, or a phase of one, with the terms in r.
func (h *host) conclude(r wire.Round) []byte {
	phase, _ := h.phase()
	if phase != 2 {
		h.rounds++
	}
	r.Phase, r.Round, r.StepSize = phase, h.rounds, h.plan.StepSizeAt(h.rounds)
	r.Perturbations = h.plan.PerturbationsAt(h.rounds)
	if r.Contributors = max(r.Contributors, 1); h.plan.Control == plan.ScaffoldMean &&
		len(r.Object) == 0 {
		r.Population = max(uint32(len(h.slots)), r.Contributors)
	}
	return h.append(wire.Record{Kind: wire.KindRound, Round: &r})
}

// commit commits a round with as many scalars as the plan has. commit makes up the scalars that are
// missing.
func (h *host) commit(scalars ...float32) []byte {
	if h.plan.Transport == plan.DenseVectors {
		return h.put(h.madeUp(), 1)
	}
	p := h.plan.PerturbationsAt(h.rounds + 1)
	n := int(h.plan.Steps * p)
	phase, point := h.phase()
	if phase == 1 {
		n = int(p)
	}
	made := func(n int) wire.Scalars {
		for len(scalars) < n {
			scalars = append(scalars, float32(math.Sin(float64(len(scalars))+float64(h.last()))))
		}
		var s wire.Scalars
		for block := range slices.Chunk(scalars, int(p)) {
			s = h.plan.Precision.Append(s, block...)
		}
		return s
	}
	r := wire.Round{Terms: []wire.Term{{Scalars: made(n)}}}
	switch {
	case h.plan.Transport == plan.Relay:
		r.Terms[0].Source = prng.Slot(0)
		if h.plan.Weights == plan.BySamples {
			r.Weights = []uint32{3}
		}
	case phase == 2 && h.plan.SendsControl():
		scalars = nil
		r.Terms = append(r.Terms, wire.Term{Back: h.last() + 1 - point, Scalars: made(int(p))})
	}
	return h.conclude(r)
}

// round announces, collects the contributions, and commits their mean.
func (h *host) round() []reply {
	h.t.Helper()
	return h.roundOf(func(reply) bool { return true })
}

// roundOf does the same as round, with the contributions that counts selects.
func (h *host) roundOf(counts func(reply) bool) []reply {
	h.t.Helper()
	h.announce()
	replies := slices.DeleteFunc(h.take(),
		func(r reply) bool { return r.Kind != wire.Contribution })
	if len(replies) == 0 {
		h.t.Fatalf("record %d: nobody contributed", h.last()+1)
	}
	in := slices.DeleteFunc(slices.Clone(replies), func(r reply) bool { return !counts(r) })
	slices.SortFunc(in, func(a, b reply) int { return cmp.Compare(h.slots[a.id], h.slots[b.id]) })
	h.conclude(h.aggregate(in))
	return replies
}

// aggregate returns the round that contributions make.
func (h *host) aggregate(in []reply) wire.Round {
	h.t.Helper()
	r := wire.Round{Contributors: uint32(len(in))}
	controls := map[uint64][]wire.Scalars{}
	for _, c := range in {
		slot := h.slots[c.id]
		if h.plan.Transport == plan.Relay {
			r.Terms = append(r.Terms, wire.Term{Source: prng.Slot(slot), Scalars: c.Values})
			if h.plan.Weights == plan.BySamples {
				r.Weights = append(r.Weights, c.Weight)
			}
		}
		if h.plan.Control == plan.ScaffoldMean {
			r.Slots = append(r.Slots, slot)
		}
		if v, ok := c.Control(); ok {
			controls[v.N] = append(controls[v.N], v.Scalars)
		} else if len(c.Rest) > 0 {
			h.t.Errorf("%s: record %d: %x after the array", c.id, c.N, c.Rest)
		}
	}
	if h.plan.Transport == plan.Relay {
		return r
	}
	var values []wire.Scalars
	for _, c := range in {
		values = append(values, c.Values)
	}
	r.Terms = []wire.Term{{Scalars: h.meanOf(values, len(in))}}
	for _, n := range slices.Backward(slices.Sorted(maps.Keys(controls))) {
		r.Terms = append(r.Terms, wire.Term{Back: h.last() + 1 - n,
			Scalars: h.meanOf(controls[n], len(in))})
	}
	return r
}

// meanOf divides the sums by a number, and rounds to the plan's precision.
func (h *host) meanOf(values []wire.Scalars, by int) wire.Scalars {
	var s wire.Scalars
	precision := h.plan.Precision
	for i := range precision.Len(values[0]) {
		var sum mathx.ExactSum
		for _, v := range values {
			sum.Add(precision.Values(v, 1, precision.Len(v))[i], 1)
		}
		s = h.plan.Precision.Append(s, sum.Mean(uint64(by)))
	}
	return s
}

// mean returns the mean of contributions to a plain round.
func mean(replies []reply) []float32 {
	sums := make([]mathx.ExactSum, replies[0].Values.Len())
	for _, r := range replies {
		for i := range sums {
			sums[i].Add(r.Values.At(i), 1)
		}
	}
	means := make([]float32, len(sums))
	for i := range sums {
		means[i] = sums[i].Mean(uint64(len(replies)))
	}
	return means
}
