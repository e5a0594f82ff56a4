package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// avx512 has vectors of sixteen elements: a table and, in the upper half, its negative. So half a
// byte of signs is a place there, and no sum needs another sign.
type avx512 struct {
	// Read-only data: the sign bit in the upper eight elements, the numbers from 0 to 15, and for
	// each of these a mask of so many elements.
	upper, iota, partial Mem

	negate, places reg.VecVirtual
	base           tables
	mask           reg.OpmaskVirtual // of the last columns
}

func (*avx512) name() string  { return "AVX512" }
func (*avx512) lanes() int    { return 16 }
func (*avx512) after() string { return "" }

func (m *avx512) start() {
	m.negate, m.places = ZMM(), ZMM()
	VMOVUPS(m.upper, m.negate)
	VMOVDQU32(m.iota, m.places)
}

func (m *avx512) group(sums reg.Register) {
	m.base = tables{ZMM(), ZMM()}
	VBROADCASTF32X8(Mem{Base: sums}, m.base.low)
	VBROADCASTF32X8(Mem{Base: sums, Disp: 32}, m.base.high)
	VXORPS(m.negate, m.base.low, m.base.low)
	VXORPS(m.negate, m.base.high, m.base.high)
}

func (m *avx512) row(signs Mem) tables {
	bytes, t := ZMM(), tables{ZMM(), ZMM()}
	VPBROADCASTB(signs, bytes)
	i := m.indexOf(bytes)
	VPXORD(m.places, i.low, i.low)
	VPXORD(m.places, i.high, i.high)
	VPERMPS(m.base.low, i.low, t.low)
	VPERMPS(m.base.high, i.high, t.high)
	return t
}

func (m *avx512) columns(signs Mem) index {
	bytes := ZMM()
	VPMOVZXBD(signs, bytes)
	return m.indexOf(bytes)
}

// indexOf takes bytes that are the lowest of their elements. Only four bits of a place count.
func (m *avx512) indexOf(bytes reg.VecVirtual) index {
	i := index{low: bytes, high: ZMM()}
	VPSRLD(Imm(4), bytes, i.high)
	return i
}

func (*avx512) sum(t tables, i index) reg.VecVirtual {
	low, high := ZMM(), ZMM()
	VPERMPS(t.low, i.low, low)
	VPERMPS(t.high, i.high, high)
	VADDPS(high, low, low)
	return low
}

func (m *avx512) rest(left reg.Register) {
	masks := GP64()
	m.mask = K()
	LEAQ(m.partial, masks)
	KMOVW(Mem{Base: masks, Index: left, Scale: 4}, m.mask)
}

func (m *avx512) restColumns(signs Mem) index {
	bytes := ZMM()
	VPMOVZXBD_Z(signs, m.mask, bytes)
	return m.indexOf(bytes)
}

func (m *avx512) addRest(v reg.VecVirtual, to Mem) {
	old := ZMM()
	VMOVUPS_Z(to, m.mask, old)
	VADDPS(old, v, v)
	VMOVUPS(v, m.mask, to)
}
