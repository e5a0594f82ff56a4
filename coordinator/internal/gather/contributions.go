package gather

import (
	"slices"

	"github.com/zofl/zofl/mathx"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// Contributions hold the numbers of replies without summing them, for medians and for late
// contributions. Contributions take 4 bytes for each scalar of each contributor.
//
// Invariant: contribution i has values[i*size:(i+1)*size].
type Contributions struct {
	contributors
	size   int
	values []float32
	column []float32 // one scalar of every contribution
}

// Reset forgets all contributions. Later contributions have size scalars each.
func (k *Contributions) Reset(size int) {
	k.size, k.values, k.contributors = size, k.values[:0], k.contributors[:0]
}

// Add copies values.
func (k *Contributions) Add(slot uint32, values []float32, weight uint32) {
	k.add(slot, weight)
	k.values = append(k.values, values...)
}

// Len returns how many contributions there are.
func (k *Contributions) Len() int { return len(k.contributors) }

// Scale multiplies all values by s, see [Scale].
func (k *Contributions) Scale(s float64) { Scale(k.values, s) }

// Terms returns a term for each contribution, along the directions of its slot.
func (k *Contributions) Terms(precision plan.Precision) []wire.Term {
	scalars := make(wire.Scalars, 0, precision.Bytes(len(k.values)))
	return k.terms(func(at int) wire.Scalars {
		first := len(scalars)
		scalars = precision.Append(scalars, k.values[at*k.size:(at+1)*k.size]...)
		return scalars[first:len(scalars):len(scalars)]
	})
}

// Rows returns the values of each contribution, in no particular order. The rows are valid until
// the next Reset.
func (k *Contributions) Rows() [][]float32 {
	rows := make([][]float32, len(k.contributors))
	for i, from := range k.contributors {
		rows[i] = k.values[from.at*k.size : (from.at+1)*k.size]
	}
	return rows
}

// Combine calls one with the values of each scalar, in arbitrary order, and returns the results.
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

// TrimmedMean sorts values, leaves out int(trim*len(values)) values at either end, and returns the
// exact mean of the rest, rounded once. The product is a float32: 0.35 is not exact in float32, and
// yet 0.35*20 gives 7. trim is below 0.5, and no such product rounds up to half the number of
// values, so at least one value remains.
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
// norm is [mathx.Norm]; the factor is a float32. Clip returns the factor before it was rounded, or
// 1 if nothing changed.
func Clip(values []float32, most float32) (factor float64) {
	norm := mathx.Norm(values)
	if norm <= float64(most) {
		return 1
	}
	factor = float64(most) / norm
	for i, v := range values {
		values[i] = float32(float32(factor) * v)
	}
	return factor
}
