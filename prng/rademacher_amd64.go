//go:build !purego

package prng

import (
	"unsafe"

	"github.com/zofl/zofl/internal/isa"
)

func (s *signs) load(z *Direction, block uint32) {
	position := uint32(z.Step)<<16 | uint32(z.Perturbation)
	switch level := isa.Current(); {
	case level >= isa.AVX512:
		loadSignsAVX512((*[signWords]uint64)(s), uint64(z.Key), 8*block, position, z.Source,
			uint32(z.Domain))
	case level >= isa.AVX2:
		loadSignsAVX2((*[signWords]uint64)(s), uint64(z.Key), 8*block, position, z.Source,
			uint32(z.Domain))
	default:
		s.loadGeneric(z, block)
	}
}

// wordLen is the number of elements whose signs the assembly processes at a time.
const wordLen = 32

// word returns a pointer to the signs from element i*wordLen on.
func (s *signs) word(i int) *uint32 {
	return (*uint32)(unsafe.Add(unsafe.Pointer(s), 4*i))
}

func (s *signs) perturb(dst, x []float32, a float32) {
	level := isa.Current()
	if level < isa.AVX2 {
		s.perturbGeneric(dst, x, a)
		return
	}
	words := len(dst) / wordLen
	if words > 0 {
		perturbWords(&dst[0], &x[0], words, a, s.word(0), level)
	}
	if tail := dst[words*wordLen:]; len(tail) > 0 {
		var last [wordLen]float32
		copy(last[:], x[words*wordLen:])
		perturbWords(&last[0], &last[0], 1, a, s.word(words), level)
		copy(tail, last[:])
	}
}

func perturbWords(dst, x *float32, words int, a float32, s *uint32, level isa.Level) {
	if level >= isa.AVX512 {
		perturbSignsAVX512(dst, x, words, a, s)
	} else {
		perturbSignsAVX2(dst, x, words, a, s)
	}
}

func (s *signs) perturbPair(plus, minus, x []float32, a float32) {
	level := isa.Current()
	if level < isa.AVX2 {
		s.perturbPairGeneric(plus, minus, x, a)
		return
	}
	words := len(x) / wordLen
	if words > 0 {
		perturbPairWords(&plus[0], &minus[0], &x[0], words, a, s.word(0), level)
	}
	if tail := x[words*wordLen:]; len(tail) > 0 {
		var above, below [wordLen]float32
		copy(above[:], tail)
		perturbPairWords(&above[0], &below[0], &above[0], 1, a, s.word(words), level)
		copy(plus[words*wordLen:], above[:])
		copy(minus[words*wordLen:], below[:])
	}
}

func perturbPairWords(plus, minus, x *float32, words int, a float32, s *uint32, level isa.Level) {
	if level >= isa.AVX512 {
		perturbPairSignsAVX512(plus, minus, x, words, a, s)
	} else {
		perturbPairSignsAVX2(plus, minus, x, words, a, s)
	}
}

func (t *groupSums) set(terms *[groupLen]Term) {
	if isa.Current() < isa.AVX2 {
		t.setGeneric(terms[:])
		return
	}
	t.setGeneric(terms[:3])
	var a [groupLen - 3]float32
	for j := range a {
		a[j] = terms[3+j].A
	}
	setSumsAVX2((*[256]float32)(t), &a)
}

// quadLen is the number of elements to which the assembly adds sums at a time.
const quadLen = 4 * 64

func (t *groupSums) add(dst []float32, s *[groupLen]signs) {
	quads := len(dst) / quadLen
	if isa.Current() < isa.AVX2 {
		quads = 0
	}
	if quads > 0 {
		addSumsAVX2(&dst[0], quads, (*[256]float32)(t), (*[8][64]uint64)(unsafe.Pointer(s)))
	}
	t.addGeneric(dst[quads*quadLen:], s, quads*4)
}
