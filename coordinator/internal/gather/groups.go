package gather

import (
	"slices"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/wire"
)

// ByGroup returns the contributions of each group, ascending by slot. of returns the group of a
// slot. ByGroup leaves out a slot without a group.
func (k *Contributions) ByGroup(of func(slot uint32) (uint32, bool), groups uint32,
) []Contributions {
	list := make([]Contributions, groups)
	for g := range list {
		list[g].size = k.size
	}
	for _, from := range k.contributors {
		if g, ok := of(from.slot); ok && g < groups {
			list[g].Add(from.slot, k.values[from.at*k.size:(from.at+1)*k.size], from.weight)
		}
	}
	for g := range list {
		list[g].Sort()
	}
	return list
}

// Weigh replaces the contributors' weights by the result of weights for their slots and weights. If
// weights returns nil, Weigh changes no weight.
func (k *Contributions) Weigh(weights func(slots, claimed []uint32) []uint32) {
	for i, w := range weights(k.Slots(), k.Weights()) {
		k.contributors[i].weight = w
	}
}

// GroupWeights returns the weight of each term of [GroupTerms]: the sum of its contributors'
// weights. If a sum is larger than a record can hold, GroupWeights halves all sums until none is,
// and rounds them; no weight is below 1.
func GroupWeights(groups []Contributions) []uint32 {
	var sums []uint64
	for g := range groups {
		if len(groups[g].contributors) == 0 {
			continue
		}
		sum := uint64(0)
		for _, from := range groups[g].contributors {
			sum += uint64(from.weight)
		}
		sums = append(sums, sum)
	}
	shift := 0
	for len(sums) > 0 && rounded(slices.Max(sums), shift) > plan.MaxWeight {
		shift++
	}
	weights := make([]uint32, len(sums))
	for i, sum := range sums {
		weights[i] = uint32(max(rounded(sum, shift), 1))
	}
	return weights
}

// rounded returns v/2^shift, rounded up from a half on.
func rounded(v uint64, shift int) uint64 { return (v + 1<<shift>>1) >> shift }

// Slots returns the slot of each contributor.
func (k contributors) Slots() []uint32 {
	slots := make([]uint32, len(k))
	for i, from := range k {
		slots[i] = from.slot
	}
	return slots
}

// GroupTerms returns a term for each group that has contributions, along the directions of the slot
// that equals the group's index. The term is the aggregate of the group. A mean is exact and
// rounded once.
func GroupTerms(groups []Contributions, a Aggregator, precision plan.Precision) []wire.Term {
	var terms []wire.Term
	for g := range groups {
		k := &groups[g]
		if len(k.contributors) == 0 {
			continue
		}
		var sum Tally
		sum.Reset(k.size)
		for _, from := range k.contributors {
			sum.Add(k.values[from.at*k.size:(from.at+1)*k.size], from.weight)
		}
		scalars := precision.Append(nil, a.Combine(&sum, k)...)
		terms = append(terms, wire.Term{Source: prng.Slot(uint32(g)), Scalars: slices.Clip(scalars)})
	}
	return terms
}
