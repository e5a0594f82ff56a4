package secagg

import "math"

// A Coding turns scalars into 32-bit words whose sums do not overflow: a scalar v becomes
// round(v*L/R), with L = floor((2^31-1)/Units) levels on each side of zero.
type Coding struct {
	// Range is R: Word limits scalars to [-R, R]. R is above 0 and finite.
	Range float32
	// Units bounds the sum of the weights in one sum: without weights, the number of members of the
	// round. 1 to 2^24.
	Units uint32
}

// Word returns the word of weight*v, and whether v was outside [-R, R]. weight is at least 1.
// Errors: [ErrValue] for NaN and infinities.
//
//	weight * roundToEven(float64(v) * (float64(L)/float64(R))) modulo 2^32, in float64
func (c Coding) Word(v float32, weight uint32) (word uint32, cut bool, err error) {
	if v != v || math.IsInf(float64(v), 0) {
		return 0, false, because(ErrValue, "%v", v)
	}
	if cut = v > c.Range || v < -c.Range; cut {
		v = float32(math.Copysign(float64(c.Range), float64(v)))
	}
	scaled := math.RoundToEven(float64(v) * (c.levels() / float64(c.Range)))
	return uint32(int32(scaled)) * weight, cut, nil
}

func (c Coding) levels() float64 { return float64((1<<31 - 1) / c.Units) }

// Sum returns the scalar that a sum of words stands for: int32(word)*R/L, in float64.
func (c Coding) Sum(word uint32) float64 {
	return float64(int32(word)) * float64(c.Range) / c.levels()
}

// Error returns the largest error of a sum whose weights sum to units, if no scalar was outside
// [-R, R]: units*R/(2L), and 2^-18 of that for the rounding of float64.
func (c Coding) Error(units uint32) float64 {
	return float64(units) * float64(c.Range) / (2 * c.levels()) * (1 + 1.0/(1<<18))
}
