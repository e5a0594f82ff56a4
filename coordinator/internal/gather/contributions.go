package gather

import (
	"cmp"
	"slices"

	"github.com/zofl/zofl/mathx"
	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/wire"
)

// A kept is the contributions of a round as they came, where there is more to do
// than to add them. It takes 4 bytes for each scalar of each contributor.
//
// Invariant: contribution i of from has values[i*size:(i+1)*size].
type Contributions struct {
	size   int
	values []float32
	from   []contributor
	column []float32 // one scalar of each
}

// A contributor is whose contribution has index at.
type contributor struct {
	slot, weight uint32
	at           int
}

// reset empties k and makes it one of lists of size scalars.
func (k *Contributions) Reset(size int) {
	k.size, k.values, k.from = size, k.values[:0], k.from[:0]
}

// add keeps a copy of values.
func (k *Contributions) Add(slot uint32, values []float32, weight uint32) {
	k.from = append(k.from, contributor{slot, weight, len(k.from)})
	k.values = append(k.values, values...)
}

// sort puts contributors in the order of their slots, which are different ones.
func (k *Contributions) Sort() {
	slices.SortFunc(k.from, func(a, b contributor) int { return cmp.Compare(a.slot, b.slot) })
}

// terms returns each contribution along the directions of its slot.
func (k *Contributions) Terms(precision wire.Precision) []wire.Term {
	terms := make([]wire.Term, len(k.from))
	scalars := make(wire.Scalars, 0, len(k.values)*precision.Width())
	for i, from := range k.from {
		first := len(scalars)
		scalars = precision.Append(scalars, k.values[from.at*k.size:(from.at+1)*k.size]...)
		terms[i] = wire.Term{Source: prng.Slot(from.slot), Scalars: scalars[first:len(scalars):len(scalars)]}
	}
	return terms
}

// weights returns the weight of each term.
func (k *Contributions) Weights() []uint32 {
	weights := make([]uint32, len(k.from))
	for i, from := range k.from {
		weights[i] = from.weight
	}
	return weights
}

// combine makes one of each scalar's values, in whatever order they came.
func (k *Contributions) Combine(one func(values []float32) float32) []float32 {
	out := make([]float32, k.size)
	for i := range out {
		k.column = k.column[:0]
		for at := i; at < len(k.values); at += k.size {
			k.column = append(k.column, k.values[at])
		}
		out[i] = one(k.column)
	}
	return out
}

// trimmedMean sorts values and returns the exact mean, rounded once, of all but
// the trim part of them at either end, rounded down. The part is a product of
// float32: 0.35 is not one, and yet of 20 it is 7. trim is below 0.5, so that at
// least one is left: no product rounds up to half of the values.
func TrimmedMean(values []float32, trim float32) float32 {
	slices.Sort(values)
	cut := int(float32(trim * float32(len(values))))
	var sum mathx.ExactSum
	rest := values[cut : len(values)-cut]
	for _, v := range rest {
		sum.Add(v, 1)
	}
	return sum.Mean(uint64(len(rest)))
}

// clip shortens values, as one vector, to the length most: v *= most/|v| if |v|
// is above it. The length is that of [mathx.Norm], the factor a float32.
func Clip(values []float32, most float32) {
	norm := mathx.Norm(values)
	if norm <= float64(most) {
		return
	}
	factor := float32(float64(most) / norm)
	for i, v := range values {
		values[i] = float32(factor * v)
	}
}
