package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// avx2 has vectors of four lanes, eight elements.
type avx2 struct {
	one reg.VecVirtual // in each element
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

func (m *avx2) normals(w []reg.VecVirtual, table reg.Register) (z []reg.VecVirtual) {
	for _, f := range w {
		VPOR(m.one, f, f)
		VCVTDQ2PS(f, f)
		// The pairs of elements 0 1 4 5 and 2 3 6 7: so the shuffles, which work on
		// halves, put the coefficients into the order of f.
		k, high := YMM(), XMM()
		VPSRLD(Imm(17), f, k)
		VPERMQ(Imm(0b11011000), k, k)
		VEXTRACTI128(Imm(1), k, high)
		a, b := gather(k.AsX(), table), gather(high, table)
		c1, c0 := YMM(), YMM()
		VSHUFPS(Imm(0b10001000), b, a, c1)
		VSHUFPS(Imm(0b11011101), b, a, c0)
		VMULPS(f, c1, c1)
		VADDPS(c0, c1, c1)
		z = append(z, c1)
	}
	return z
}

// gather returns the pairs at four indices.
func gather(k, table reg.Register) reg.VecVirtual {
	pairs, mask := YMM(), YMM()
	VPXOR(pairs, pairs, pairs) // or it would wait for what was there
	VPCMPEQD(mask, mask, mask)
	VPGATHERDQ(mask, Mem{Base: table, Index: k, Scale: 8}, pairs)
	return pairs
}
