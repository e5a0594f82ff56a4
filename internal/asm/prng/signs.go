package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func loadSigns(m machine) {
	begin("loadSigns"+m.name(), "s "+signsType+", "+addressParams, "sets s to the signs of a block.")
	state := m.seed()
	s := Load(Param("s"), GP64())
	for r := range 8 {
		for i, w := range m.row(state) {
			move(m, w, Mem{Base: s, Disp: 64*r + i*m.width()})
		}
	}
	VZEROUPPER()
	RET()
}

// signed is a set up to write a, or -a where the next sign is 1.
type signed struct {
	a, sign reg.VecVirtual
	shifts  [4]reg.VecVirtual
}

func newSigned() *signed {
	s := &signed{a: YMM(), sign: YMM()}
	VBROADCASTSS(address("a"), s.a)
	VPCMPEQD(s.sign, s.sign, s.sign)
	VPSLLD(Imm(31), s.sign, s.sign)
	table := shiftCounts()
	for i := range s.shifts {
		s.shifts[i] = YMM()
		VMOVDQU(table.Offset(32*i), s.shifts[i])
	}
	return s
}

var shiftCountsData *Mem

// shiftCounts are by how much bit i of 32 must be shifted to be the sign.
func shiftCounts() Mem {
	return once(&shiftCountsData, "shiftCounts", 32, func(i int) Constant { return U32(31 - i) })
}

// set sets v to the signed a of quarter i of 32 signs.
func (s *signed) set(bits reg.VecVirtual, i int, v reg.VecVirtual) {
	VPSLLVD(s.shifts[i], bits, v)
	VPAND(s.sign, v, v)
	VPXOR(s.a, v, v)
}

func perturbSigns() {
	begin("perturbSignsAVX2", "dst, x *float32, words int, a float32, s *uint32",
		"sets dst to x plus a times the signs of so many words of 32.")
	dst, x := Load(Param("dst"), GP64()), Load(Param("x"), GP64())
	a := newSigned()
	eachWord(func(bits reg.VecVirtual) {
		PREFETCHT0(Mem{Base: x, Disp: ahead})
		PREFETCHT0(Mem{Base: x, Disp: ahead + 64})
		for i := range 4 {
			v := YMM()
			a.set(bits, i, v)
			VADDPS(Mem{Base: x, Disp: 32 * i}, v, v)
			VMOVUPS(v, Mem{Base: dst, Disp: 32 * i})
		}
		ADDQ(Imm(128), x)
		ADDQ(Imm(128), dst)
	})
}

func perturbPairSigns() {
	begin("perturbPairSignsAVX2", "plus, minus, x *float32, words int, a float32, s *uint32",
		"sets plus and minus to x plus and minus a times the signs of so many words of 32.")
	plus, minus := Load(Param("plus"), GP64()), Load(Param("minus"), GP64())
	x := Load(Param("x"), GP64())
	a := newSigned()
	eachWord(func(bits reg.VecVirtual) {
		PREFETCHT0(Mem{Base: x, Disp: ahead})
		PREFETCHT0(Mem{Base: x, Disp: ahead + 64})
		for i := range 4 {
			both(&avx2{}, x, plus, minus, 32*i, func(v reg.VecVirtual) { a.set(bits, i, v) })
		}
		ADDQ(Imm(128), x)
		ADDQ(Imm(128), plus)
		ADDQ(Imm(128), minus)
	})
}

// eachWord is the loop over words of 32 signs.
func eachWord(body func(bits reg.VecVirtual)) {
	words, s := Load(Param("words"), GP64()), Load(Param("s"), GP64())
	TESTQ(words, words)
	JZ(LabelRef("done"))
	Label("word")
	bits := YMM()
	VPBROADCASTD(Mem{Base: s}, bits)
	ADDQ(Imm(4), s)
	body(bits)
	DECQ(words)
	JNZ(LabelRef("word"))
	Label("done")
	VZEROUPPER()
	RET()
}
