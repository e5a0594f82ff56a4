// Command lowrank generates the assembly of package lowrank: the sum of a step over rows of a
// matrix.
//
// A group of eight directions has two tables of eight sums. A byte of signs has a half for each: a
// place in the table, and the sign with which the sum there counts. A row's own byte permutes the
// tables once, for all columns.
package main

import (
	"fmt"

	"github.com/mmcloughlin/avo/attr"
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

func main() {
	ConstraintExpr("!purego")
	signs := data("signBit", 8, func(int) uint32 { return 1 << 31 })
	places := data("iota", 16, func(i int) uint32 { return uint32(i) })
	narrow := &avx2{
		signBit: signs, iota: places,
		masks: data("masks", 16, func(i int) uint32 { return -uint32((15 - i) / 8) }),
	}
	wide := &avx512{
		upper:   data("upper", 16, func(i int) uint32 { return uint32(i/8) << 31 }),
		iota:    places,
		partial: data("partial", 16, func(i int) uint32 { return 1<<i - 1 }),
	}
	for _, m := range []machine{narrow, wide} {
		addRows(m, "addRow", "", 1)
		addRows(m, "addPair", "two rows, stride bytes apart, of ", 2)
		addRows(m, "addFour", "four rows, stride bytes apart, of ", 4)
	}
	stripTables(narrow)
	stripSigns()
	addStrip()
	copyRows()
	positiveZeros()
	Generate()
}

// A machine generates the steps of a kernel for one width of vector registers.
type machine interface {
	name() string
	lanes() int    // columns at a time
	after() string // what the comment on bytes after the signs says
	// start sets the registers that the other steps need.
	start()
	// group loads the tables of a group at sums.
	group(sums reg.Register)
	// row returns the tables of the group as the row sees them whose signs are at m.
	row(m Mem) tables
	// columns returns what the signs at m say.
	columns(m Mem) index
	// sum returns the group's sums for columns of a row.
	sum(t tables, i index) reg.VecVirtual
	// rest makes the next steps ready for the last columns, `left` of them, fewer than lanes.
	rest(left reg.Register)
	// restColumns is columns for the last ones.
	restColumns(m Mem) index
	// addRest adds v to the last elements at m.
	addRest(v reg.VecVirtual, m Mem)
}

// index holds what the signs of columns say: places in the low and the high table, of which only
// the lowest bits count, and, for tables of eight sums, signs.
type index struct{ low, high, lowSign, highSign reg.VecVirtual }

// tables are the two tables of a group, as a row sees them.
type tables struct{ low, high reg.VecVirtual }

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

// addRows adds the sums of all groups to one row, or to some rows at once: these share the work on
// the signs of columns.
func addRows(m machine, name, which string, rows int) {
	begin(name+m.name(), "dst *float32, stride, columns, groups int, a *uint8, aNext int, b *uint8, "+
		"bNext int, sums *[2][8]float32",
		"adds the sums of groups to "+which+"columns elements.",
		"A group's signs are the bytes at a, of rows, and at b, of columns; those of the next",
		fmt.Sprintf("group are aNext and bNext bytes on.%s", m.after()))
	dst, stride := Load(Param("dst"), GP64()), Load(Param("stride"), GP64())
	columns, groups := Load(Param("columns"), GP64()), Load(Param("groups"), GP64())
	a, b := Load(Param("a"), GP64()), Load(Param("b"), GP64())
	sums := Load(Param("sums"), GP64())
	m.start()
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
	m.group(sums)
	var t [4]tables
	for r := range rows {
		t[r] = m.row(Mem{Base: a, Disp: r})
	}
	MOVQ(dst, x)
	MOVQ(b, signs)
	MOVQ(columns, left)
	SUBQ(Imm(uint64(m.lanes())), left)
	JL(LabelRef("tail"))
	Label("full")
	i := m.columns(Mem{Base: signs})
	for r := range rows {
		v := m.sum(t[r], i)
		VADDPS(row(r), v, v)
		VMOVUPS(v, row(r))
	}
	ADDQ(Imm(uint64(m.lanes())), signs)
	ADDQ(Imm(uint64(4*m.lanes())), x)
	SUBQ(Imm(uint64(m.lanes())), left)
	JGE(LabelRef("full"))
	Label("tail")
	ADDQ(Imm(uint64(m.lanes())), left)
	JZ(LabelRef("next"))
	m.rest(left)
	i = m.restColumns(Mem{Base: signs})
	for r := range rows {
		m.addRest(m.sum(t[r], i), row(r))
	}
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
