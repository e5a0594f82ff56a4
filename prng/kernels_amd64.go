//go:build !purego

package prng

import (
	"math"

	"github.com/zofl/zofl/internal/isa"
)

//go:generate go -C ../internal/asm run ./prng -out ../../prng/vector_amd64.s -stubs ../../prng/vector_stubs_amd64.go -pkg prng

// rowLen is the number of elements that the lanes generate at a time.
const rowLen = 16

// pairs is tableBits spread out like table, for kernels that load c1 and c0 at once.
var pairs [1 << (9 + segmentBits)][2]float32

func init() {
	if isa.Best() == isa.Generic {
		return
	}
	for i, bits := range tableBits {
		c1, c0 := math.Float32frombits(bits[0]), math.Float32frombits(bits[1])
		k := 127<<segmentBits + i
		pairs[k] = [2]float32{c1, c0}
		pairs[k|1<<(8+segmentBits)] = [2]float32{c1, -c0}
	}
}

// seed sets the states for the start of a block of z.
func (l *lanes) seed(z *Direction, block uint32, level isa.Level) {
	position := uint32(z.Step)<<16 | uint32(z.Perturbation)
	if level >= isa.AVX512 {
		seedAVX512((*[2][8]uint64)(l), uint64(z.Key), 8*block, position, z.Source, uint32(z.Domain))
	} else {
		seedAVX2((*[2][8]uint64)(l), uint64(z.Key), 8*block, position, z.Source, uint32(z.Domain))
	}
}

func fillBlock(dst []float32, z *Direction, block uint32) {
	level := isa.Current()
	if level < isa.AVX2 {
		fillBlockGeneric(dst, z, block)
		return
	}
	var l lanes
	l.seed(z, block, level)
	rows := len(dst) / rowLen
	if rows > 0 {
		fillRows(&dst[0], rows, &l, level)
	}
	if tail := dst[rows*rowLen:]; len(tail) > 0 {
		var last [rowLen]float32
		fillRows(&last[0], 1, &l, level)
		copy(tail, last[:])
	}
}

func fillRows(dst *float32, rows int, l *lanes, level isa.Level) {
	if level >= isa.AVX512 {
		fillAVX512(dst, rows, (*[2][8]uint64)(l), &pairs)
	} else {
		fillAVX2(dst, rows, (*[2][8]uint64)(l), &pairs)
	}
}

func perturbBlock(dst, x []float32, a float32, z *Direction, block uint32) {
	level := isa.Current()
	if level < isa.AVX2 {
		perturbBlockGeneric(dst, x, a, z, block)
		return
	}
	var l lanes
	l.seed(z, block, level)
	rows := len(dst) / rowLen
	if rows > 0 {
		perturbRows(&dst[0], &x[0], rows, a, &l, level)
	}
	if tail := dst[rows*rowLen:]; len(tail) > 0 {
		var last [rowLen]float32
		copy(last[:], x[rows*rowLen:])
		perturbRows(&last[0], &last[0], 1, a, &l, level)
		copy(tail, last[:])
	}
}

func perturbRows(dst, x *float32, rows int, a float32, l *lanes, level isa.Level) {
	if level >= isa.AVX512 {
		perturbAVX512(dst, x, rows, a, (*[2][8]uint64)(l), &pairs)
	} else {
		perturbAVX2(dst, x, rows, a, (*[2][8]uint64)(l), &pairs)
	}
}

func perturbPairBlock(plus, minus, x []float32, a float32, z *Direction, block uint32) {
	level := isa.Current()
	if level < isa.AVX2 {
		perturbPairBlockGeneric(plus, minus, x, a, z, block)
		return
	}
	var l lanes
	l.seed(z, block, level)
	rows := len(x) / rowLen
	if rows > 0 {
		perturbPairRows(&plus[0], &minus[0], &x[0], rows, a, &l, level)
	}
	if tail := x[rows*rowLen:]; len(tail) > 0 {
		var above, below [rowLen]float32
		copy(above[:], tail)
		perturbPairRows(&above[0], &below[0], &above[0], 1, a, &l, level)
		copy(plus[rows*rowLen:], above[:])
		copy(minus[rows*rowLen:], below[:])
	}
}

func perturbPairRows(plus, minus, x *float32, rows int, a float32, l *lanes, level isa.Level) {
	if level >= isa.AVX512 {
		perturbPairAVX512(plus, minus, x, rows, a, (*[2][8]uint64)(l), &pairs)
	} else {
		perturbPairAVX2(plus, minus, x, rows, a, (*[2][8]uint64)(l), &pairs)
	}
}

// uniformBlock has no assembly: it generates initial parameters, once a run.
func uniformBlock(dst []float32, z *Direction, block uint32) { uniformBlockGeneric(dst, z, block) }
