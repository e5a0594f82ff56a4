package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func loadSigns(m machine) {
	begin("loadSigns"+m.name(), "s "+signsType+", "+addressParams,
		"sets s to the signs of a block.")
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

// A signer generates code that gives a for each sign of 0, and -a for each sign of 1.
type signer interface {
	// load loads the signs of the next 32 elements.
	load(s reg.Register)
	// set sets v to the values of its i-th vector of elements.
	set(i int, v reg.VecVirtual)
}

// signer256 shifts each sign to the top of its element, to negate a.
type signer256 struct {
	a, sign, bits reg.VecVirtual
	shifts        [4]reg.VecVirtual
}

func (m *avx2) signer() signer {
	s := &signer256{a: m.broadcast("a"), sign: YMM()}
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

// shiftCounts are the shifts that move bit i of 32 to the sign bit.
func shiftCounts() Mem {
	return once(&shiftCountsData, "shiftCounts", 32, func(i int) Constant { return U32(31 - i) })
}

func (s *signer256) load(signs reg.Register) {
	s.bits = YMM()
	VPBROADCASTD(Mem{Base: signs}, s.bits)
}

func (s *signer256) set(i int, v reg.VecVirtual) {
	VPSLLVD(s.shifts[i], s.bits, v)
	VPAND(s.sign, v, v)
	VPXOR(s.a, v, v)
}

// signer512 blends a and -a by a mask register.
type signer512 struct {
	plus, minus reg.VecVirtual
	signs       reg.Register
}

func (m *avx512) signer() signer {
	s := &signer512{plus: m.broadcast("a"), minus: ZMM()}
	VPTERNLOGD(Imm(0xff), s.minus, s.minus, s.minus)
	VPSLLD(Imm(31), s.minus, s.minus)
	VPXORD(s.plus, s.minus, s.minus)
	return s
}

func (s *signer512) load(signs reg.Register) { s.signs = signs }

func (s *signer512) set(i int, v reg.VecVirtual) {
	mask := K()
	KMOVW(Mem{Base: s.signs, Disp: 2 * i}, mask)
	VBLENDMPS(s.minus, s.plus, mask, v)
}

func perturbSigns(m machine) {
	begin("perturbSigns"+m.name(), "dst, x *float32, words int, a float32, s *uint32",
		"sets dst to x plus a times the signs of so many words of 32.")
	dst, x := Load(Param("dst"), GP64()), Load(Param("x"), GP64())
	eachWord(m, func(a signer) {
		PREFETCHT0(Mem{Base: x, Disp: ahead})
		PREFETCHT0(Mem{Base: x, Disp: ahead + 64})
		for i := range 128 / m.width() {
			v := m.vector()
			a.set(i, v)
			VADDPS(Mem{Base: x, Disp: i * m.width()}, v, v)
			VMOVUPS(v, Mem{Base: dst, Disp: i * m.width()})
		}
		ADDQ(U32(128), x)
		ADDQ(U32(128), dst)
	})
}

func perturbPairSigns(m machine) {
	begin("perturbPairSigns"+m.name(), "plus, minus, x *float32, words int, a float32, s *uint32",
		"sets plus and minus to x plus and minus a times the signs of so many words of 32.")
	plus, minus := Load(Param("plus"), GP64()), Load(Param("minus"), GP64())
	x := Load(Param("x"), GP64())
	eachWord(m, func(a signer) {
		PREFETCHT0(Mem{Base: x, Disp: ahead})
		PREFETCHT0(Mem{Base: x, Disp: ahead + 64})
		for i := range 128 / m.width() {
			both(m, x, plus, minus, i*m.width(), func(v reg.VecVirtual) { a.set(i, v) })
		}
		ADDQ(U32(128), x)
		ADDQ(U32(128), plus)
		ADDQ(U32(128), minus)
	})
}

// eachWord is the loop over words of 32 signs. The code after the loop comes last.
func eachWord(m machine, body func(a signer), last ...func()) {
	words, s := Load(Param("words"), GP64()), Load(Param("s"), GP64())
	a := m.signer()
	TESTQ(words, words)
	JZ(LabelRef("done"))
	Label("word")
	a.load(s)
	body(a)
	ADDQ(Imm(4), s)
	DECQ(words)
	JNZ(LabelRef("word"))
	Label("done")
	for _, f := range last {
		f()
	}
	VZEROUPPER()
	RET()
}
