package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// avx2 has vectors of four lanes, eight elements.
type avx2 struct {
	one reg.VecVirtual // in each element
	k   Mem            // of the frame: a row of indices
}

func (*avx2) name() string           { return "AVX2" }
func (*avx2) vector() reg.VecVirtual { return YMM() }
func (*avx2) width() int             { return 32 }

func (*avx2) broadcast(param string) reg.VecVirtual {
	v := YMM()
	VBROADCASTSS(address(param), v)
	return v
}

func (m *avx2) constants() {
	m.k = local(64)
	m.one = YMM()
	VPCMPEQD(m.one, m.one, m.one)
	VPSRLD(Imm(31), m.one, m.one)
}

// rotl sets dst to x rotated left; it needs a scratch vector.
func rotl(k uint64, x, t, dst reg.VecVirtual) {
	VPSLLQ(Imm(k), x, t)
	VPSRLQ(Imm(64-k), x, dst)
	VPOR(t, dst, dst)
}

func (m *avx2) row(s *state) (w []reg.VecVirtual) {
	for i := range s.s0 {
		s0, s1 := s.s0[i], s.s1[i]
		out, t, u := YMM(), YMM(), YMM()
		VPADDQ(s1, s0, out)
		rotl(17, out, t, out)
		VPADDQ(s0, out, out)
		VPXOR(s0, s1, s1)
		VPSLLQ(Imm(49), s0, t)
		VPSRLQ(Imm(15), s0, s0)
		VPSLLQ(Imm(21), s1, u)
		VPXOR(t, s0, s0)
		VPXOR(u, s1, u)
		VPXOR(u, s0, s0)
		rotl(28, s1, t, s1)
		w = append(w, out)
	}
	return w
}

// normals loads the table's pairs one by one. On processors without AVX-512, gather instructions
// are slow, by design or since a microcode fix. On processors with fast gathers, the two ways
// differ by at most 4 %.
func (m *avx2) normals(w []reg.VecVirtual, table reg.Register) (z []reg.VecVirtual) {
	for i, f := range w {
		VPOR(m.one, f, f)
		VCVTDQ2PS(f, f)
		k := YMM()
		VPSRLD(Imm(17), f, k)
		VMOVDQU(k, m.k.Offset(32*i))
		// The pairs of elements 0 1 4 5 and 2 3 6 7: so the shuffles, which work on
		// halves, put the coefficients into the order of f.
		a, b := m.pairs(8*i, table), m.pairs(8*i+2, table)
		c1, c0 := YMM(), YMM()
		VSHUFPS(Imm(0b10001000), b, a, c1)
		VSHUFPS(Imm(0b11011101), b, a, c0)
		VMULPS(f, c1, c1)
		VADDPS(c0, c1, c1)
		z = append(z, c1)
	}
	return z
}

// pairs returns the pairs at the indices of elements i, i+1, i+4 and i+5.
func (m *avx2) pairs(i int, table reg.Register) reg.Register {
	var halves [2]reg.VecVirtual
	for h := range halves {
		first, second := GP32(), GP32()
		MOVL(m.k.Offset(4*(i+4*h)), first)
		MOVL(m.k.Offset(4*(i+4*h+1)), second)
		halves[h] = XMM()
		VMOVQ(Mem{Base: table, Index: first.As64(), Scale: 8}, halves[h])
		VMOVHPS(Mem{Base: table, Index: second.As64(), Scale: 8}, halves[h], halves[h])
	}
	v := halves[0].AsY()
	VINSERTF128(Imm(1), halves[1], v, v)
	return v
}
