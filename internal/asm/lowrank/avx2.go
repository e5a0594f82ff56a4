package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// avx2 has vectors of eight elements, so a vector holds a table.
type avx2 struct {
	// Read-only data: the sign bit in each element, the numbers from 0 to 7, and eight elements of
	// ones before eight of zeros.
	signBit, iota, masks Mem

	sign   reg.VecVirtual
	sums   reg.Register
	masked reg.Register // the address of the mask of the last columns
}

func (*avx2) name() string { return "AVX2" }
func (*avx2) lanes() int   { return 8 }

func (*avx2) after() string { return " There must be 7 bytes after the last column's." }

func (m *avx2) start() {
	m.sign = YMM()
	VMOVUPS(m.signBit, m.sign)
}

func (m *avx2) group(sums reg.Register) { m.sums = sums }

func (m *avx2) row(signs Mem) tables {
	bytes, t := YMM(), tables{YMM(), YMM()}
	VPBROADCASTB(signs, bytes)
	i := m.indexOf(bytes)
	VPXOR(m.iota, i.low, i.low)
	VPXOR(m.iota, i.high, i.high)
	VPERMPS(Mem{Base: m.sums}, i.low, t.low)
	VPERMPS(Mem{Base: m.sums, Disp: 32}, i.high, t.high)
	VXORPS(i.lowSign, t.low, t.low)
	VXORPS(i.highSign, t.high, t.high)
	return t
}

func (m *avx2) columns(signs Mem) index {
	bytes := YMM()
	VPMOVZXBD(signs, bytes)
	return m.indexOf(bytes)
}

// indexOf takes bytes that are the lowest of their elements. Other bits above the byte do no harm.
func (m *avx2) indexOf(bytes reg.VecVirtual) index {
	i := index{bytes, YMM(), YMM(), YMM()}
	VPSRLD(Imm(4), bytes, i.high)
	VPSLLD(Imm(28), bytes, i.lowSign)
	VPSLLD(Imm(24), bytes, i.highSign)
	VPAND(m.sign, i.lowSign, i.lowSign)
	VPAND(m.sign, i.highSign, i.highSign)
	return i
}

func (*avx2) sum(t tables, i index) reg.VecVirtual {
	low, high := YMM(), YMM()
	VPERMPS(t.low, i.low, low)
	VPERMPS(t.high, i.high, high)
	VXORPS(i.lowSign, low, low)
	VXORPS(i.highSign, high, high)
	VADDPS(high, low, low)
	return low
}

func (m *avx2) rest(left reg.Register) {
	m.masked = GP64()
	LEAQ(m.masks, m.masked)
	NEGQ(left)
	LEAQ(Mem{Base: m.masked, Index: left, Scale: 4, Disp: 32}, m.masked)
}

// restColumns reads more signs than there are columns.
func (m *avx2) restColumns(signs Mem) index { return m.columns(signs) }

// addRest loads the mask each time: registers are few.
func (m *avx2) addRest(v reg.VecVirtual, to Mem) {
	old := YMM()
	VMASKMOVPS(to, m.mask(), old)
	VADDPS(old, v, v)
	VMASKMOVPS(v, m.mask(), to)
}

func (m *avx2) mask() reg.VecVirtual {
	v := YMM()
	VMOVUPS(Mem{Base: m.masked}, v)
	return v
}
