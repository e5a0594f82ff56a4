package gather

import (
	"cmp"
	"slices"

	"github.com/zofl/zofl/mathx"
	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/wire"
)

// Contributions hold the replies of a round unsummed, for medians and relay. They take 4 bytes for
// each scalar of each contributor.
//
// Invariant: the contribution of index i has values[i*size:(i+1)*size].
type Contributions struct {
	size   int
	values []float32
	from   []contributor
	column []float32 // one scalar of every contribution
}

// A contributor is the device whose contribution has index at.
type contributor struct {
	slot, weight uint32
	at           int
}

// Reset forgets all contributions; the next ones have size scalars each.
func (k *Contributions) Reset(size int) {
	k.size, k.values, k.from = size, k.values[:0], k.from[:0]
}

// Add copies values.
func (k *Contributions) Add(slot uint32, values []float32, weight uint32) {
	k.from = append(k.from, contributor{slot, weight, len(k.from)})
	k.values = append(k.values, values...)
}

// Sort orders the contributors by slot. No two have the same.
func (k *Contributions) Sort() {
	slices.SortFunc(k.from, func(a, b contributor) int { return cmp.Compare(a.slot, b.slot) })
}

// Terms returns a term for each contribution, along the directions of its slot.
func (k *Contributions) Terms(precision wire.Precision) []wire.Term {
	terms := make([]wire.Term, len(k.from))
	scalars := make(wire.Scalars, 0, len(k.values)*precision.Width())
	for i, from := range k.from {
		first := len(scalars)
		scalars = precision.Append(scalars, k.values[from.at*k.size:(from.at+1)*k.size]...)
		terms[i] = wire.Term{Source: prng.Slot(from.slot),
			Scalars: scalars[first:len(scalars):len(scalars)]}
	}
	return terms
}

// Weights returns the weight of each term.
func (k *Contributions) Weights() []uint32 {
	weights := make([]uint32, len(k.from))
	for i, from := range k.from {
		weights[i] = from.weight
	}
	return weights
}

// Combine applies one to the values of each scalar. Their order is arbitrary.
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

// TrimmedMean sorts values and returns the exact mean, rounded once, of what remains after
// int(trim*len(values)) of them are cut off at either end. The product is a float32: 0.35 is not
// exact in float32, and yet 0.35*20 gives 7. trim is below 0.5, so at least one value remains: no
// such product rounds up to half of the values.
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

// Clip scales values, as one vector, down to the norm most: v *= most/|v| if |v| is larger. The
// norm is that of [mathx.Norm]; the factor is a float32.
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
