package dpnoise

import (
	"io"
	"math"
	"math/bits"
)

// A source draws from distributions exactly, because it only compares whole numbers with random
// bits.
type source struct {
	random io.Reader
	buffer [64]byte
	left   int    // unused bytes of the buffer
	word   uint64 // the bits of one byte
	bits   int    // how many of these bits are left
}

func (s *source) bit() uint64 {
	if s.bits == 0 {
		if s.left == 0 {
			if _, err := io.ReadFull(s.random, s.buffer[:]); err != nil {
				panic("noise: internal error: no random bits: " + err.Error())
			}
			s.left = len(s.buffer)
		}
		s.left--
		s.word, s.bits = uint64(s.buffer[s.left]), 8
		s.buffer[s.left] = 0
	}
	b := s.word & 1
	s.word, s.bits = s.word>>1, s.bits-1
	return b
}

// below returns a random number of 0..n-1, all with the same probability.
func (s *source) below(n uint64) uint64 {
	for {
		v := uint64(0)
		for range bits.Len64(n - 1) {
			v = v<<1 | s.bit()
		}
		if v < n {
			return v
		}
	}
}

// A wide is a whole number below 2^128.
type wide struct{ high, low uint64 }

func product(a, b uint64) wide {
	high, low := bits.Mul64(a, b)
	return wide{high, low}
}

func (a wide) less(b wide) bool { return a.high < b.high || a.high == b.high && a.low < b.low }

func (a wide) minus(b wide) wide {
	low, borrow := bits.Sub64(a.low, b.low, 0)
	high, _ := bits.Sub64(a.high, b.high, borrow)
	return wide{high, low}
}

func (a wide) times(n uint64) wide {
	high, low := bits.Mul64(a.low, n)
	return wide{high + a.high*n, low}
}

// chance returns true with the probability n/d, for n <= d < 2^127. chance draws a uniform number
// of [0, 1) bit by bit, and compares it with the binary digits of n/d.
func (s *source) chance(n, d wide) bool {
	if !n.less(d) {
		return true
	}
	for n != (wide{}) {
		n = n.times(2)
		digit := uint64(0)
		if !n.less(d) {
			n, digit = n.minus(d), 1
		}
		if b := s.bit(); b != digit {
			return b < digit
		}
	}
	return false
}

// decay returns true with the probability exp(-n/d), Algorithm 1 of Canonne, Kamath and Steinke. d
// is below 2^110.
func (s *source) decay(n, d wide) bool {
	for !n.less(d) {
		if !s.decayPart(d, d) {
			return false
		}
		n = n.minus(d)
	}
	return s.decayPart(n, d)
}

// decayPart is decay for n <= d.
func (s *source) decayPart(n, d wide) bool {
	k := uint64(1)
	for s.chance(n, d.times(k)) {
		k++
	}
	return k%2 == 1
}

// laplace returns a whole number y with a probability proportional to exp(-|y|/t), Algorithm 2.
func (s *source) laplace(t uint64) (negative bool, size uint64) {
	one := wide{0, 1}
	for {
		u := s.below(t)
		if !s.decay(wide{0, u}, wide{0, t}) {
			continue
		}
		size = u
		for s.decay(one, one) {
			size += t
		}
		if negative = s.bit() == 1; !negative || size > 0 {
			return negative, size
		}
	}
}

// gauss returns a whole number y with a probability proportional to exp(-y^2/(2 variance)),
// Algorithm 3. variance is from 1 to 2^40.
func (s *source) gauss(variance uint64) int64 {
	t := uint64(math.Sqrt(float64(variance))) + 1
	below := product(2*variance, t*t) // 2 variance t^2, below 2^83
	for {
		negative, size := s.laplace(t)
		// (|y| - variance/t)^2/(2 variance) as a fraction of whole numbers.
		away := size*t - variance
		if size*t < variance {
			away = variance - size*t
		}
		if !s.decay(product(away, away), below) {
			continue
		}
		if negative {
			return -int64(size)
		}
		return int64(size)
	}
}
