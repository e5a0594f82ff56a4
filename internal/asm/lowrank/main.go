// Command lowrank generates the assembly of package lowrank: the sum of a step over rows of a
// matrix.
//
// A group of eight directions has two tables of eight sums. A byte of signs has a half for each: a
// place in the table, and the sign with which the sum there counts. A row's own byte permutes the
// tables once, for all columns.
package main

import (
	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func main() {
	ConstraintExpr("!purego")
	c := constants{
		signBit: data("signBit", 8, func(int) uint32 { return 1 << 31 }),
		iota:    data("iota", 8, func(i int) uint32 { return uint32(i) }),
		masks:   data("masks", 16, func(i int) uint32 { return -uint32((15 - i) / 8) }),
	}
	addRows("addRowAVX2", "", 1, &c)
	addRows("addPairAVX2", "two rows, stride bytes apart, of ", 2, &c)
	addRows("addFourAVX2", "four rows, stride bytes apart, of ", 4, &c)
	positiveZeros()
	Generate()
}

// constants are read-only data: the sign bit in each element, the numbers from 0 to 7, and eight
// elements of ones before eight of zeros.
type constants struct{ signBit, iota, masks Mem }

func data(name string, n int, element func(i int) uint32) Mem {
	m := GLOBL(name, attr.RODATA|attr.NOPTR)
	for i := range n {
		DATA(4*i, U32(element(i)))
	}
	return m
}

func begin(name, params string, doc ...string) {
	TEXT(name, NOSPLIT, "func("+params+")")
	Pragma("noescape")
	doc[0] = name + " " + doc[0]
	Doc(doc...)
}

// index holds what eight bytes of signs say: places in the low and the high table, of which only
// three bits count, and signs.
type index struct{ low, high, lowSign, highSign reg.VecVirtual }

// indexOf takes bytes that are the lowest of their elements. Other bits above the byte do no harm.
func indexOf(bytes, sign reg.VecVirtual) index {
	i := index{bytes, YMM(), YMM(), YMM()}
	VPSRLD(Imm(4), bytes, i.high)
	VPSLLD(Imm(28), bytes, i.lowSign)
	VPSLLD(Imm(24), bytes, i.highSign)
	VPAND(sign, i.lowSign, i.lowSign)
	VPAND(sign, i.highSign, i.highSign)
	return i
}

// tables are the two tables of a group, as a row sees them.
type tables struct{ low, high reg.VecVirtual }

// set permutes the tables at sums by the byte at row.
func (t tables) set(sums reg.Register, row Mem, sign reg.VecVirtual, c *constants) {
	bytes := YMM()
	VPBROADCASTB(row, bytes)
	i := indexOf(bytes, sign)
	VPXOR(c.iota, i.low, i.low)
	VPXOR(c.iota, i.high, i.high)
	VPERMPS(Mem{Base: sums}, i.low, t.low)
	VPERMPS(Mem{Base: sums, Disp: 32}, i.high, t.high)
	VXORPS(i.lowSign, t.low, t.low)
	VXORPS(i.highSign, t.high, t.high)
}

// sum returns the group's sums for eight columns.
func (t tables) sum(i index) reg.VecVirtual {
	low, high := YMM(), YMM()
	VPERMPS(t.low, i.low, low)
	VPERMPS(t.high, i.high, high)
	VXORPS(i.lowSign, low, low)
	VXORPS(i.highSign, high, high)
	VADDPS(high, low, low)
	return low
}

// addRows adds the sums of all groups to one row, or to some rows at once: these share the work on
// the signs of columns.
func addRows(name, which string, rows int, c *constants) {
	begin(name, "dst *float32, stride, columns, groups int, a *uint8, aNext int, b *uint8, "+
		"bNext int, sums *[2][8]float32",
		"adds the sums of groups to "+which+"columns elements.",
		"A group's signs are the bytes at a, of rows, and at b, of columns; those of the next",
		"group are aNext and bNext bytes on. There must be 7 bytes after the last column's.")
	dst, stride := Load(Param("dst"), GP64()), Load(Param("stride"), GP64())
	columns, groups := Load(Param("columns"), GP64()), Load(Param("groups"), GP64())
	a, b := Load(Param("a"), GP64()), Load(Param("b"), GP64())
	sums := Load(Param("sums"), GP64())
	sign := YMM()
	VMOVUPS(c.signBit, sign)
	triple := GP64()
	if rows > 3 {
		LEAQ(Mem{Base: stride, Index: stride, Scale: 2}, triple)
	}
	x, signs, left := GP64(), GP64(), GP64()
	row := func(r int) Mem {
		return [4]Mem{
			{Base: x}, {Base: x, Index: stride, Scale: 1}, {Base: x, Index: stride, Scale: 2},
			{Base: x, Index: triple, Scale: 1},
		}[r]
	}

	TESTQ(groups, groups)
	JZ(LabelRef("done"))
	Label("group")
	var t [4]tables
	for r := range rows {
		t[r] = tables{YMM(), YMM()}
		t[r].set(sums, Mem{Base: a, Disp: r}, sign, c)
	}
	MOVQ(dst, x)
	MOVQ(b, signs)
	MOVQ(columns, left)
	SUBQ(Imm(8), left)
	JL(LabelRef("tail"))
	Label("eight")
	i := columnsAt(signs, sign)
	for r := range rows {
		v := t[r].sum(i)
		VADDPS(row(r), v, v)
		VMOVUPS(v, row(r))
	}
	ADDQ(Imm(8), signs)
	ADDQ(Imm(32), x)
	SUBQ(Imm(8), left)
	JGE(LabelRef("eight"))
	Label("tail")
	ADDQ(Imm(8), left)
	JZ(LabelRef("next"))
	addTail(left, signs, sign, c, t[:rows], row)
	Label("next")
	step := GP64()
	Load(Param("aNext"), step)
	ADDQ(step, a)
	Load(Param("bNext"), step)
	ADDQ(step, b)
	ADDQ(Imm(64), sums)
	DECQ(groups)
	JNZ(LabelRef("group"))
	Label("done")
	VZEROUPPER()
	RET()
}

func columnsAt(signs reg.Register, sign reg.VecVirtual) index {
	bytes := YMM()
	VPMOVZXBD(Mem{Base: signs}, bytes)
	return indexOf(bytes, sign)
}

// addTail adds to the last columns, fewer than eight.
func addTail(left, signs reg.Register, sign reg.VecVirtual, c *constants, t []tables,
	row func(r int) Mem) {
	masks := GP64()
	LEAQ(c.masks, masks)
	NEGQ(left)
	LEAQ(Mem{Base: masks, Index: left, Scale: 4, Disp: 32}, masks)
	i := columnsAt(signs, sign)
	for r := range t {
		v, old := t[r].sum(i), YMM()
		VMASKMOVPS(row(r), loadMask(masks), old)
		VADDPS(old, v, v)
		VMASKMOVPS(v, loadMask(masks), row(r))
	}
}

// loadMask returns the mask of the tail. It is not kept: registers are few.
func loadMask(masks reg.Register) reg.VecVirtual {
	m := YMM()
	VMOVUPS(Mem{Base: masks}, m)
	return m
}

// positiveZeros makes each -0 a +0.
func positiveZeros() {
	begin("positiveZerosAVX2", "x *float32, eights int",
		"adds +0 to so many times eight elements of x: each -0 becomes +0.")
	x, eights := Load(Param("x"), GP64()), Load(Param("eights"), GP64())
	zero, v := YMM(), YMM()
	VXORPS(zero, zero, zero)
	TESTQ(eights, eights)
	JZ(LabelRef("done"))
	Label("eight")
	VADDPS(Mem{Base: x}, zero, v)
	VMOVUPS(v, Mem{Base: x})
	ADDQ(Imm(32), x)
	DECQ(eights)
	JNZ(LabelRef("eight"))
	Label("done")
	VZEROUPPER()
	RET()
}
