package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// sumsType is the type of the sums that a dot kernel adds to, one for each lane of eight.
const sumsType = "*[8]float64"

// sums are the registers of a [sumsType].
type sums struct {
	m  machine
	v  []reg.VecVirtual
	at reg.Register
}

func loadSums(m machine) *sums {
	s := &sums{m: m, at: Load(Param("sums"), GP64())}
	for i := range vectors(m) {
		v := m.vector()
		VMOVUPD(Mem{Base: s.at, Disp: i * m.width()}, v)
		s.v = append(s.v, v)
	}
	return s
}

func (s *sums) store() {
	for i, v := range s.v {
		VMOVUPD(v, Mem{Base: s.at, Disp: i * s.m.width()})
	}
}

// halves returns the two halves of a vector of elements as float64s, and destroys z.
func (s *sums) halves(z reg.VecVirtual) [2]reg.VecVirtual {
	low, high := s.m.vector(), s.m.vector()
	if s.m.width() == 64 {
		VCVTPS2PD(z.AsY(), low)
		VEXTRACTF64X4(Imm(1), z, z.AsY())
		VCVTPS2PD(z.AsY(), high)
	} else {
		VCVTPS2PD(z.AsX(), low)
		VEXTRACTF128(Imm(1), z, z.AsX())
		VCVTPS2PD(z.AsX(), high)
	}
	return [2]reg.VecVirtual{low, high}
}

// add adds the products of vector i of elements, z, and the elements at x.
func (s *sums) add(i int, z reg.VecVirtual, x reg.Register) {
	for half, v := range s.halves(z) {
		w := s.m.vector()
		VCVTPS2PD(Mem{Base: x, Disp: i*s.m.width() + half*s.m.width()/2}, w)
		VMULPD(w, v, v)
		VADDPD(v, s.v[half%len(s.v)], s.v[half%len(s.v)])
	}
}

func dot(m machine) {
	begin("dot"+m.name(), "sums "+sumsType+", x *float32, rows int, l "+lanesType+
		", table "+pairsType, "adds the products of x and the next rows of normals to sums.")
	x, s := Load(Param("x"), GP64()), loadSums(m)
	eachRow(m, func(w []reg.VecVirtual, table reg.Register) {
		PREFETCHT0(Mem{Base: x, Disp: ahead})
		for i, z := range m.normals(w, table) {
			s.add(i, z, x)
		}
		ADDQ(Imm(64), x)
	}, s.store)
}

func dotSigns(m machine) {
	begin("dotSigns"+m.name(), "sums "+sumsType+", x *float32, words int, a float32, s *uint32",
		"adds x times a, times the signs of so many words of 32, to sums.")
	x, sums := Load(Param("x"), GP64()), loadSums(m)
	eachWord(m, func(a signer) {
		PREFETCHT0(Mem{Base: x, Disp: ahead})
		PREFETCHT0(Mem{Base: x, Disp: ahead + 64})
		for i := range 128 / m.width() {
			v := m.vector()
			a.set(i, v)
			sums.add(i, v, x)
		}
		ADDQ(U32(128), x)
	}, sums.store)
}
