package gather

import (
	"slices"

	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/wire"
)

// ByGroup returns the contributions of each of so many groups. of returns the group of a slot; who
// has none is left out. weights gives the contributors of a group those of their slots; if it
// returns nil, they keep theirs.
func (k *Contributions) ByGroup(
	of func(slot uint32) (uint32, bool), groups uint32, weights func(slots []uint32) []uint32,
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
		list[g].weigh(weights)
	}
	return list
}

// weigh gives the contributors the weights of their slots; nil changes none.
func (k *Contributions) weigh(weights func(slots []uint32) []uint32) {
	k.Sort()
	for i, w := range weights(k.Slots()) {
		k.contributors[i].weight = w
	}
}

// Slots returns the slot of each contributor.
func (k contributors) Slots() []uint32 {
	slots := make([]uint32, len(k))
	for i, from := range k {
		slots[i] = from.slot
	}
	return slots
}

// GroupTerms returns a term for each group that has contributions, along the directions of the slot
// of its index: what the aggregator makes of them, of which the mean is exact and rounded once.
func GroupTerms(groups []Contributions, a Aggregator, precision wire.Precision) []wire.Term {
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
