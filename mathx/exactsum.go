package mathx

import (
	"math"
	"math/bits"
)

const (
	notFinite   = "mathx: ExactSum of a NaN or an infinity"
	zeroWeights = "mathx: ExactSum mean over a total weight of zero"
)

// ExactSum is a sum of weighted float32 values without rounding, so it depends neither
// on the order of the additions nor on their grouping into partial sums. The zero value
// is an empty sum. A copy is an independent sum, and two sums are == if their values are
// equal.
//
// In units of 2^-149, a finite float32 is an integer below 2^277, and a weighted float32 is an
// integer below 2^309. Six 64-bit words hold the sum of more than 2^70 weighted values, so no
// overflow is possible.
type ExactSum struct {
	// w is the sum in units of 2^-149, two's complement, least significant
	// word first.
	w [6]uint64
}

// Add adds weight * x. Add panics if x is NaN or infinite; callers reject such values when they
// decode messages.
func (s *ExactSum) Add(x float32, weight uint32) {
	b := math.Float32bits(x)
	exp := b >> 23 & 0xff
	if exp == 0xff {
		panic(notFinite)
	}
	mant := uint64(b & (1<<23 - 1))
	if exp != 0 {
		mant |= 1 << 23
		exp--
	}

	// hi:lo is the product, below 2^56, shifted to its place.
	p := mant * uint64(weight)
	shift := exp & 63
	lo, hi := p<<shift, p>>1>>(63-shift)

	// A negative term is added as its two's complement. No branch depends on the sign of x, which a
	// processor could not predict.
	sign := uint64(b >> 31)
	ones := -sign
	i := exp >> 6 & 3
	var c uint64
	s.w[i], c = bits.Add64(s.w[i], lo^ones, sign)
	s.w[i+1], c = bits.Add64(s.w[i+1], hi^ones, c)
	if c != sign {
		s.carry(i+2, ones, c)
	}
}

// carry adds the carry c and the word ones, the sign extension of the term, to the words from i up.
// carry stops as soon as c and ones cancel.
func (s *ExactSum) carry(i uint32, ones, c uint64) {
	for ; i < uint32(len(s.w)) && c != ones&1; i++ {
		s.w[i], c = bits.Add64(s.w[i], ones, c)
	}
}

// Merge adds the sum o to s; o is unchanged.
func (s *ExactSum) Merge(o *ExactSum) {
	var c uint64
	for i, w := range o.w {
		s.w[i], c = bits.Add64(s.w[i], w, c)
	}
}

// Reset makes s an empty sum.
func (s *ExactSum) Reset() { *s = ExactSum{} }

// Mean returns the sum divided by totalWeight, rounded once, to nearest even. A sum of zero gives
// +0. A quotient too small for float32 gives a zero with the sign of the sum. If the total is too
// small, the result is an infinity. The total cannot be too small if totalWeight is the sum of all
// added weights. Mean panics if totalWeight is 0.
func (s *ExactSum) Mean(totalWeight uint64) float32 {
	if totalWeight == 0 {
		panic(zeroWeights)
	}
	q, sign := s.abs()
	var r uint64
	for i := len(q) - 1; i >= 0; i-- {
		q[i], r = bits.Div64(r, q[i], totalWeight)
	}
	return math.Float32frombits(sign | round(&q, r, totalWeight))
}

// abs returns the magnitude of the sum and the sign bit of a float32.
func (s *ExactSum) abs() (m [6]uint64, sign uint32) {
	m = s.w
	if m[5]>>63 == 0 {
		return m, 0
	}
	c := uint64(1)
	for i := range m {
		m[i], c = bits.Add64(^m[i], 0, c)
	}
	return m, 1 << 31
}

// round returns the bits of the float32 nearest to (q + r/d) * 2^-149, ties to
// even, for 0 <= r < d.
func round(q *[6]uint64, r, d uint64) uint32 {
	n := bitLen(q)
	if n <= 24 {
		// Subnormals and the first normals are spaced by one unit, 2^-149, and their bits are q itself.
		// The remainder decides the rounding.
		m := uint32(q[0])
		if r > d-r || r == d-r && m&1 == 1 {
			m++
		}
		return m
	}
	const infinity = 0xff << 23
	drop := n - 24 // bits of q below the mantissa
	if drop > 253 {
		return infinity
	}
	m := uint32(shiftRight(q, drop))
	half := shiftRight(q, drop-1)&1 == 1
	// The leading bit of the mantissa adds 1 to the exponent field. A carry out of the mantissa adds
	// another 1, and so leads to the next power of two, or to infinity.
	v := uint32(drop)<<23 + m
	if half && (m&1 == 1 || r != 0 || anyBelow(q, drop-1)) {
		v++
	}
	return v
}

// bitLen returns the number of bits of q without leading zeros.
func bitLen(q *[6]uint64) int {
	for i := len(q) - 1; i >= 0; i-- {
		if q[i] != 0 {
			return 64*i + bits.Len64(q[i])
		}
	}
	return 0
}

// shiftRight returns the low word of q >> n, for n < 320.
func shiftRight(q *[6]uint64, n int) uint64 {
	i, k := n/64, uint(n%64)
	return q[i]>>k | q[i+1]<<1<<(63-k)
}

// anyBelow reports whether one of the lowest n bits of q is set.
func anyBelow(q *[6]uint64, n int) bool {
	i := n / 64
	low := q[i] & (1<<uint(n%64) - 1)
	for _, w := range q[:i] {
		low |= w
	}
	return low != 0
}
