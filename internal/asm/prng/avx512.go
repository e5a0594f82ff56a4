package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// avx512 has vectors of eight lanes, sixteen elements.
type avx512 struct {
	one       reg.VecVirtual // in each element
	even, odd reg.VecVirtual // indices of the pairs' halves over two vectors
}

func (*avx512) name() string           { return "AVX512" }
func (*avx512) vector() reg.VecVirtual { return ZMM() }
func (*avx512) width() int             { return 64 }

func (*avx512) broadcast(param string) reg.VecVirtual {
	v := ZMM()
	VBROADCASTSS(address(param), v)
	return v
}

func (m *avx512) constants() {
	m.one, m.even, m.odd = ZMM(), ZMM(), ZMM()
	VPTERNLOGD(Imm(0xff), m.one, m.one, m.one)
	VPSRLD(Imm(31), m.one, m.one)
	VMOVDQU32(evenHalves(), m.even)
	VPADDD(m.one, m.even, m.odd)
}

var evenHalvesData *Mem

// evenHalves holds the numbers 0, 2, ... 30.
func evenHalves() Mem {
	return once(&evenHalvesData, "evenHalves", 16, func(i int) Constant { return U32(2 * i) })
}

func (m *avx512) row(s *state) (w []reg.VecVirtual) {
	s0, s1, out, t := s.s0[0], s.s1[0], ZMM(), ZMM()
	VPADDQ(s1, s0, out)
	VPROLQ(Imm(17), out, out)
	VPADDQ(s0, out, out)
	VPXORQ(s0, s1, s1)
	VPSLLQ(Imm(21), s1, t)
	VPROLQ(Imm(49), s0, s0)
	VPTERNLOGQ(Imm(0x96), t, s1, s0) // exclusive or of all three
	VPROLQ(Imm(28), s1, s1)
	return []reg.VecVirtual{out}
}

func (m *avx512) normals(w []reg.VecVirtual, table reg.Register) (z []reg.VecVirtual) {
	f := w[0]
	VPORD(m.one, f, f)
	VCVTDQ2PS(f, f)
	k, high := ZMM(), YMM()
	VPSRLD(Imm(17), f, k)
	VEXTRACTI64X4(Imm(1), k, high)
	a, b := m.gather(k.AsY(), table), m.gather(high, table)
	c1 := ZMM()
	VMOVDQA64(m.even, c1)
	VPERMI2PS(b, a, c1)
	VPERMT2PS(b, m.odd, a) // c0
	VMULPS(f, c1, c1)
	VADDPS(a, c1, c1)
	return []reg.VecVirtual{c1}
}

func (m *avx512) gather(k, table reg.Register) reg.VecVirtual {
	pairs, mask := ZMM(), K()
	VPXORQ(pairs, pairs, pairs) // breaks the dependency on the old value
	KXNORW(mask, mask, mask)
	VPGATHERDQ(Mem{Base: table, Index: k, Scale: 8}, mask, pairs)
	return pairs
}
