package engine

import (
	"maps"
	"math"
	"math/big"
	"slices"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// A slowRound computes the record that a core must make, with rational numbers and sorting.
type slowRound struct {
	w     *walk
	n     uint64
	phase uint8
	plan  *plan.Plan
}

// body returns the round, as far as devices decide about it.
func (s *slowRound) body() *wire.Round {
	ids := slices.Sorted(maps.Keys(s.w.accepted))
	slots := map[uint32]sentReply{}
	for _, id := range ids {
		m, _ := s.w.core.cohort.Roster.Find(id)
		slots[m.Slot] = s.clipped(s.w.accepted[id])
	}
	body := &wire.Round{Contributors: uint32(len(ids)), Phase: s.phase}
	order := slices.Sorted(maps.Keys(slots))
	if s.plan.Transport == plan.Relay {
		for _, slot := range order {
			term := wire.Term{Source: slot + 1}
			if term.Scalars = slots[slot].scalars; !s.plan.Precision.Quantized() {
				term.Scalars = s.plan.Precision.Append(nil, slots[slot].values...)
			}
			body.Terms = append(body.Terms, term)
			if s.plan.Weights == plan.BySamples {
				body.Weights = append(body.Weights, uint32(slots[slot].weight))
			}
		}
		return body
	}
	replies := slices.Collect(maps.Values(slots))
	one := wire.Term{}
	for i := range replies[0].values {
		one.Scalars = s.plan.Precision.Append(one.Scalars, s.one(replies, i))
	}
	body.Terms = append([]wire.Term{one}, s.controls(replies)...)
	if s.plan.Control == plan.ScaffoldMean {
		body.Slots, body.Population = order, uint32(s.w.core.cohort.Roster.Stored)
	}
	return body
}

func (s *slowRound) clipped(r sentReply) sentReply {
	if s.plan.Aggregator != plan.ClippedMean {
		return r
	}
	sum := 0.0
	for _, v := range r.values {
		sum += float64(v) * float64(v)
	}
	if norm := math.Sqrt(sum); norm > float64(s.plan.Clip) {
		if s.plan.Precision.Quantized() {
			r.scalars = s.plan.Precision.Scale(nil, r.scalars, len(r.values)/int(s.plan.Steps),
				float64(s.plan.Clip)/norm)
		}
		r.values = slices.Clone(r.values)
		for i := range r.values {
			r.values[i] *= float32(float64(s.plan.Clip) / norm)
		}
	}
	return r
}

// one returns scalar i of the round.
func (s *slowRound) one(replies []sentReply, i int) float32 {
	var column []float32
	for _, r := range replies {
		column = append(column, r.values[i])
	}
	slices.Sort(column)
	m := len(column)
	switch s.plan.Aggregator {
	case plan.Median:
		return float32((float64(column[(m-1)/2]) + float64(column[m/2])) / 2)
	case plan.TrimmedMean:
		cut := int(math.Floor(float64(s.plan.Trim) * float64(m)))
		sum := new(big.Rat)
		for _, v := range column[cut : m-cut] {
			sum.Add(sum, new(big.Rat).SetFloat64(float64(v)))
		}
		return quotient(sum, int64(m-2*cut))
	}
	sum, weights := new(big.Rat), int64(0)
	for _, r := range replies {
		sum.Add(sum, product(r.values[i], r.weight))
		weights += r.weight
	}
	return quotient(sum, weights)
}

// controls returns the terms of control variates.
func (s *slowRound) controls(replies []sentReply) (terms []wire.Term) {
	if s.phase == 1 {
		return nil
	}
	weights := int64(0)
	for _, r := range replies {
		weights += r.weight
	}
	for n := s.n - 1; n > 1; n-- {
		term := wire.Term{Back: s.n - n}
		for i := range 2 {
			sum, found := new(big.Rat), false
			for _, r := range replies {
				if r.controlOf == n {
					sum.Add(sum, product(r.control[i], r.weight))
					found = true
				}
			}
			if found {
				term.Scalars = s.plan.Precision.Append(term.Scalars, quotient(sum, weights))
			}
		}
		if len(term.Scalars) > 0 {
			terms = append(terms, term)
		}
	}
	return terms
}

func product(v float32, weight int64) *big.Rat {
	x := new(big.Rat).SetFloat64(float64(v))
	return x.Mul(x, new(big.Rat).SetInt64(weight))
}

func quotient(sum *big.Rat, by int64) float32 {
	v, _ := sum.Quo(sum, new(big.Rat).SetInt64(by)).Float32()
	return v
}
