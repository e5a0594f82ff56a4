package main

import (
	"strings"

	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// A strip is stripLen columns of many rows. Over so few columns a row has only sixteen different
// lows and sixteen different highs for each group, which stripTables makes. So a row takes two
// loads and two additions for each group, and no permutation.
const (
	stripLen   = 16
	placeBytes = 4 * stripLen          // of a low or a high
	tableBytes = 2 * 16 * placeBytes   // of a group
	stripRows  = 256                   // most rows of a strip
	stripType  = "*[2][16][16]float32" // the lows and the highs of a group
	rowsType   = "*[2][256]uint8"      // of each row the low half of its byte, times 16, and the high
)

// stripTables makes the lows and highs of groups. The lower eight places of a table have the sign
// of their columns, the upper eight are the negatives of those.
func stripTables(m *avx2) {
	begin("stripTablesAVX2", "tables "+stripType+", groups int, b *uint8, bNext int, "+
		"sums *[2][8]float32",
		"sets tables to the halves of the sums that rows may add to 16 columns: those of",
		"a group for each half of a row's byte. A group's signs of columns are the bytes at b;",
		"those of the next group are bNext bytes on.")
	tables, groups := Load(Param("tables"), GP64()), Load(Param("groups"), GP64())
	b, next := Load(Param("b"), GP64()), Load(Param("bNext"), GP64())
	sums := Load(Param("sums"), GP64())
	m.start()
	numbers := data("places", 64, func(i int) uint32 { return uint32(i / 8) })
	Label("group")
	for v := range stripLen / 8 {
		i := m.columns(Mem{Base: b, Disp: 8 * v})
		for h, half := range []struct{ place, sign reg.VecVirtual }{
			{i.low, i.lowSign}, {i.high, i.highSign},
		} {
			to := Mem{Base: tables, Disp: h*tableBytes/2 + 32*v}
			for k := range 8 {
				place, sum := YMM(), YMM()
				VPXOR(numbers.Offset(32*k), half.place, place)
				VPERMPS(Mem{Base: sums, Disp: 32 * h}, place, sum)
				VXORPS(half.sign, sum, sum)
				VMOVUPS(sum, to.Offset(placeBytes*k))
				VXORPS(m.sign, sum, sum)
				VMOVUPS(sum, to.Offset(placeBytes*(k+8)))
			}
		}
	}
	ADDQ(next, b)
	ADDQ(Imm(64), sums)
	ADDQ(U32(tableBytes), tables)
	DECQ(groups)
	JNZ(LabelRef("group"))
	VZEROUPPER()
	RET()
}

// addStrip adds the sums of groups to a strip.
func addStrip() {
	begin("addStripAVX2", strings.Join([]string{"dst *float32", "stride, rows, groups int",
		"signs " + rowsType, "tables " + stripType}, ", "),
		"adds the sums of groups to 16 columns of rows, stride bytes apart, and makes each -0 a",
		"+0 before. The rows' signs are at signs; the halves of sums that they select are at",
		"tables.")
	dst, stride := Load(Param("dst"), GP64()), Load(Param("stride"), GP64())
	rows, groups := Load(Param("rows"), GP64()), Load(Param("groups"), GP64())
	first, tables := Load(Param("signs"), GP64()), Load(Param("tables"), GP64())
	low, high, table, signs, left := GP64(), GP64(), GP64(), GP64(), GP64()
	zero := YMM()
	VXORPS(zero, zero, zero)
	Label("row")
	x := [2]reg.VecVirtual{YMM(), YMM()}
	for v := range x {
		VADDPS(Mem{Base: dst, Disp: 32 * v}, zero, x[v])
	}
	PREFETCHT0(Mem{Base: dst, Disp: placeBytes})
	MOVQ(first, signs)
	MOVQ(tables, table)
	MOVQ(groups, left)
	add := func(group int) {
		MOVBLZX(Mem{Base: signs, Disp: 2 * stripRows * group}, low.As32())
		MOVBLZX(Mem{Base: signs, Disp: 2*stripRows*group + stripRows}, high.As32())
		at := tableBytes * group
		for v := range x {
			sum := YMM()
			VMOVUPS(Mem{Base: table, Index: low, Scale: 4, Disp: at + 32*v}, sum)
			VADDPS(Mem{Base: table, Index: high, Scale: 4, Disp: at + tableBytes/2 + 32*v}, sum, sum)
			VADDPS(sum, x[v], x[v])
		}
	}
	SUBQ(Imm(2), left)
	JL(LabelRef("last"))
	Label("two")
	add(0)
	add(1)
	ADDQ(U32(2*2*stripRows), signs)
	ADDQ(U32(2*tableBytes), table)
	SUBQ(Imm(2), left)
	JGE(LabelRef("two"))
	Label("last")
	INCQ(left)
	JNZ(LabelRef("next"))
	add(0)
	Label("next")
	for v := range x {
		VMOVUPS(x[v], Mem{Base: dst, Disp: 32 * v})
	}
	ADDQ(stride, dst)
	INCQ(first)
	DECQ(rows)
	JNZ(LabelRef("row"))
	VZEROUPPER()
	RET()
}
