//go:build !purego

package prng

import "github.com/zofl/zofl/internal/isa"

// laneSums are the sums of every eighth product.
type laneSums [8]float64

func (s *laneSums) total() float64 {
	return s[0] + s[4] + (s[1] + s[5]) + (s[2] + s[6] + (s[3] + s[7]))
}

func dotBlock(g []float32, z *Direction, block uint32) float64 {
	level := isa.Current()
	if level < isa.AVX2 {
		return dotBlockGeneric(g, z, block)
	}
	var l lanes
	l.seed(z, block, level)
	var sums laneSums
	rows := len(g) / rowLen
	if rows > 0 {
		dotRows(&sums, &g[0], rows, &l, level)
	}
	if tail := g[rows*rowLen:]; len(tail) > 0 {
		var last [rowLen]float32
		copy(last[:], tail)
		dotRows(&sums, &last[0], 1, &l, level)
	}
	return sums.total()
}

func dotRows(sums *laneSums, g *float32, rows int, l *lanes, level isa.Level) {
	if level >= isa.AVX512 {
		dotAVX512((*[8]float64)(sums), g, rows, (*[2][8]uint64)(l), &pairs)
	} else {
		dotAVX2((*[8]float64)(sums), g, rows, (*[2][8]uint64)(l), &pairs)
	}
}

func (s *signs) dot(g []float32) float64 {
	level := isa.Current()
	if level < isa.AVX2 {
		return s.dotGeneric(g)
	}
	var sums laneSums
	words := len(g) / wordLen
	if words > 0 {
		dotWords(&sums, &g[0], words, s.word(0), level)
	}
	if tail := g[words*wordLen:]; len(tail) > 0 {
		var last [wordLen]float32
		copy(last[:], tail)
		dotWords(&sums, &last[0], 1, s.word(words), level)
	}
	return sums.total()
}

func dotWords(sums *laneSums, g *float32, words int, s *uint32, level isa.Level) {
	if level >= isa.AVX512 {
		dotSignsAVX512((*[8]float64)(sums), g, words, 1, s)
	} else {
		dotSignsAVX2((*[8]float64)(sums), g, words, 1, s)
	}
}
