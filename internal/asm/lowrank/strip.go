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
	stripLen    = 16
	placeBytes  = 4 * stripLen          // of a low or a high
	tableBytes  = 2 * 16 * placeBytes   // of a group
	stripRows   = 256                   // most rows of a strip
	stripGroups = 8                     // most groups of a pass
	stripType   = "*[2][16][16]float32" // the lows and the highs of a group
	rowsType    = "*[2][256]uint8"      // of each row the low half of its byte, times 16, and the high
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

// stripSigns makes what addStrip takes for rows.
func stripSigns() {
	begin("stripSignsAVX2", "halves "+rowsType+", signs *uint8, next, rows, groups int",
		"sets halves to those of the bytes at signs, one for each row. The bytes of the next",
		"group are next bytes on. There must be 31 bytes after the last row's.")
	halves, first := Load(Param("halves"), GP64()), Load(Param("signs"), GP64())
	next, rows := Load(Param("next"), GP64()), Load(Param("rows"), GP64())
	groups := Load(Param("groups"), GP64())
	upper, at, low, high := YMM(), GP64(), YMM(), YMM()
	VMOVDQU(data("upperHalves", 8, func(int) uint32 { return 0xf0f0f0f0 }), upper)
	Label("group")
	XORQ(at, at)
	Label("rows")
	VMOVDQU(Mem{Base: first, Index: at, Scale: 1}, high)
	VPSLLW(Imm(4), high, low)
	VPAND(upper, low, low)
	VPAND(upper, high, high)
	VMOVDQU(low, Mem{Base: halves, Index: at, Scale: 1})
	VMOVDQU(high, Mem{Base: halves, Index: at, Scale: 1, Disp: stripRows})
	ADDQ(Imm(32), at)
	CMPQ(at, rows)
	JLT(LabelRef("rows"))
	ADDQ(next, first)
	ADDQ(U32(2*stripRows), halves)
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
	CMPQ(left, Imm(stripGroups))
	JNE(LabelRef("one"))
	for group := range stripGroups {
		add(group)
	}
	JMP(LabelRef("next"))
	Label("one")
	add(0)
	ADDQ(U32(2*stripRows), signs)
	ADDQ(U32(tableBytes), table)
	DECQ(left)
	JNZ(LabelRef("one"))
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

// copyRows copies the rows of a tile. It asks for each line sixteen rows before its turn: else a
// store would wait for a line that is far, and all stores after it too.
func copyRows() {
	begin("copyRowsAVX2", "dst *float32, dstNext int, src *float32, srcNext, rows, lines int",
		"copies rows of so many times 16 elements. The next row is dstNext and srcNext",
		"bytes on.")
	dst, dstNext := Load(Param("dst"), GP64()), Load(Param("dstNext"), GP64())
	src, srcNext := Load(Param("src"), GP64()), Load(Param("srcNext"), GP64())
	rows, lines := Load(Param("rows"), GP64()), Load(Param("lines"), GP64())
	dstAhead, srcAhead, at, left := GP64(), GP64(), GP64(), GP64()
	MOVQ(dstNext, dstAhead)
	SHLQ(Imm(4), dstAhead)
	ADDQ(dst, dstAhead)
	MOVQ(srcNext, srcAhead)
	SHLQ(Imm(4), srcAhead)
	ADDQ(src, srcAhead)
	Label("row")
	XORQ(at, at)
	MOVQ(lines, left)
	Label("line")
	PREFETCHT0(Mem{Base: srcAhead, Index: at, Scale: 1})
	PREFETCHT0(Mem{Base: dstAhead, Index: at, Scale: 1})
	a, b := YMM(), YMM()
	VMOVUPS(Mem{Base: src, Index: at, Scale: 1}, a)
	VMOVUPS(Mem{Base: src, Index: at, Scale: 1, Disp: 32}, b)
	VMOVUPS(a, Mem{Base: dst, Index: at, Scale: 1})
	VMOVUPS(b, Mem{Base: dst, Index: at, Scale: 1, Disp: 32})
	ADDQ(Imm(64), at)
	DECQ(left)
	JNZ(LabelRef("line"))
	ADDQ(srcNext, src)
	ADDQ(srcNext, srcAhead)
	ADDQ(dstNext, dst)
	ADDQ(dstNext, dstAhead)
	DECQ(rows)
	JNZ(LabelRef("row"))
	VZEROUPPER()
	RET()
}
