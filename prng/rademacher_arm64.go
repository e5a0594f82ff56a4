//go:build !purego

package prng

import "github.com/zofl/zofl/internal/isa"

// perturbSignsNEON sets dst to x plus a times the signs of the given number of words, at least one.
//
//go:noescape
func perturbSignsNEON(dst, x *float32, words int, a float32, s *uint64)

// perturbPairSignsNEON sets plus and minus to x plus and minus a times the signs of the given
// number of words, at least one.
//
//go:noescape
func perturbPairSignsNEON(plus, minus, x *float32, words int, a float32, s *uint64)

func (s *signs) perturb(dst, x []float32, a float32) {
	if isa.Current() != isa.NEON {
		s.perturbGeneric(dst, x, a)
		return
	}
	words := len(dst) / 64
	if words > 0 {
		perturbSignsNEON(&dst[0], &x[0], words, a, &s[0])
	}
	if tail := dst[words*64:]; len(tail) > 0 {
		var last [64]float32
		copy(last[:], x[words*64:])
		perturbSignsNEON(&last[0], &last[0], 1, a, &s[words])
		copy(tail, last[:])
	}
}

func (s *signs) perturbPair(plus, minus, x []float32, a float32) {
	if isa.Current() != isa.NEON {
		s.perturbPairGeneric(plus, minus, x, a)
		return
	}
	words := len(x) / 64
	if words > 0 {
		perturbPairSignsNEON(&plus[0], &minus[0], &x[0], words, a, &s[0])
	}
	if tail := x[words*64:]; len(tail) > 0 {
		var above, below [64]float32
		copy(above[:], tail)
		perturbPairSignsNEON(&above[0], &below[0], &above[0], 1, a, &s[words])
		copy(plus[words*64:], above[:])
		copy(minus[words*64:], below[:])
	}
}
