package gather

import (
	"cmp"
	"slices"

	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/wire"
)

// Relayed holds the scalars of a round's contributors as the record will have them.
//
// Invariant: the contribution of index i is sent[i*size:(i+1)*size].
type Relayed struct {
	contributors
	size int // bytes of a contribution
	sent wire.Scalars
}

// Reset forgets all contributions.
func (k *Relayed) Reset() { k.contributors, k.sent = k.contributors[:0], k.sent[:0] }

// Add copies a device's scalars. All contributions to a round have the same number of bytes.
func (k *Relayed) Add(slot uint32, sent wire.Scalars, weight uint32) {
	k.add(slot, weight)
	k.size, k.sent = len(sent), append(k.sent, sent...)
}

// Terms returns a term for each contribution, along the directions of its slot. The terms share no
// memory with k.
func (k *Relayed) Terms() []wire.Term {
	sent := slices.Clone(k.sent)
	return k.terms(func(at int) wire.Scalars {
		return sent[at*k.size : (at+1)*k.size : (at+1)*k.size]
	})
}

// contributors are the devices whose contributions a Relayed or a Contributions holds.
type contributors []contributor

// A contributor is the device whose contribution has index at.
type contributor struct {
	slot, weight uint32
	at           int
}

func (k *contributors) add(slot, weight uint32) {
	*k = append(*k, contributor{slot, weight, len(*k)})
}

// Sort orders the contributors by slot. No two contributors have the same slot.
func (k contributors) Sort() {
	slices.SortFunc(k, func(a, b contributor) int { return cmp.Compare(a.slot, b.slot) })
}

// terms returns a term for each contributor. scalars returns the scalars of the contribution with
// an index.
func (k contributors) terms(scalars func(at int) wire.Scalars) []wire.Term {
	terms := make([]wire.Term, len(k))
	for i, from := range k {
		terms[i] = wire.Term{Source: prng.Slot(from.slot), Scalars: scalars(from.at)}
	}
	return terms
}

// Weights returns the weight of each term.
func (k contributors) Weights() []uint32 {
	weights := make([]uint32, len(k))
	for i, from := range k {
		weights[i] = from.weight
	}
	return weights
}
