package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// ahead is how many bytes ahead of its position a kernel prefetches.
const ahead = 2048

func fill(m machine) {
	begin("fill"+m.name(), "dst *float32, rows int, l "+lanesType+", table "+pairsType,
		"sets dst to the next rows of normals.")
	dst := Load(Param("dst"), GP64())
	eachRow(m, func(w []reg.VecVirtual, table reg.Register) {
		for i, z := range m.normals(w, table) {
			VMOVUPS(z, Mem{Base: dst, Disp: i * m.width()})
		}
		ADDQ(Imm(64), dst)
	})
}

func perturb(m machine) {
	begin("perturb"+m.name(),
		"dst, x *float32, rows int, a float32, l "+lanesType+", table "+pairsType,
		"sets dst to x plus a times the next rows of normals.")
	dst, x := Load(Param("dst"), GP64()), Load(Param("x"), GP64())
	a := m.broadcast("a")
	eachRow(m, func(w []reg.VecVirtual, table reg.Register) {
		PREFETCHT0(Mem{Base: x, Disp: ahead})
		for i, z := range m.normals(w, table) {
			VMULPS(a, z, z)
			VADDPS(Mem{Base: x, Disp: i * m.width()}, z, z)
			VMOVUPS(z, Mem{Base: dst, Disp: i * m.width()})
		}
		ADDQ(Imm(64), x)
		ADDQ(Imm(64), dst)
	})
}

func perturbPair(m machine) {
	begin("perturbPair"+m.name(),
		"plus, minus, x *float32, rows int, a float32, l "+lanesType+", table "+pairsType,
		"sets plus and minus to x plus and minus a times the next rows of normals.")
	plus, minus := Load(Param("plus"), GP64()), Load(Param("minus"), GP64())
	x := Load(Param("x"), GP64())
	a := m.broadcast("a")
	eachRow(m, func(w []reg.VecVirtual, table reg.Register) {
		PREFETCHT0(Mem{Base: x, Disp: ahead})
		for i, z := range m.normals(w, table) {
			both(m, x, plus, minus, i*m.width(), func(v reg.VecVirtual) { VMULPS(a, z, v) })
		}
		ADDQ(Imm(64), x)
		ADDQ(Imm(64), plus)
		ADDQ(Imm(64), minus)
	})
}

// both stores x+v and x-v of one vector; set computes v.
func both(m machine, x, plus, minus reg.Register, at int, set func(v reg.VecVirtual)) {
	v, above, below := m.vector(), m.vector(), m.vector()
	set(v)
	VMOVUPS(Mem{Base: x, Disp: at}, below)
	VADDPS(v, below, above)
	VSUBPS(v, below, below)
	VMOVUPS(above, Mem{Base: plus, Disp: at})
	VMOVUPS(below, Mem{Base: minus, Disp: at})
}

func begin(name, params, doc string) {
	TEXT(name, NOSPLIT, "func("+params+")")
	Pragma("noescape")
	Doc(name + " " + doc)
}

// eachRow is the loop over the rows of a kernel. The code after the loop comes last.
func eachRow(m machine, body func(w []reg.VecVirtual, table reg.Register), last ...func()) {
	rows, l, table := Load(Param("rows"), GP64()), Load(Param("l"), GP64()),
		Load(Param("table"), GP64())
	m.constants()
	s := loadState(m, l)
	TESTQ(rows, rows)
	JZ(LabelRef("done"))
	Label("row")
	body(m.row(s), table)
	DECQ(rows)
	JNZ(LabelRef("row"))
	Label("done")
	storeState(m, s, l)
	for _, f := range last {
		f()
	}
	VZEROUPPER()
	RET()
}
