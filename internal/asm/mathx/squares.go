package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// blockBytes is a block of 4096 elements; four are summed at once.
const blockBytes = 4 * 4096

// squares generates the kernel that sums the squares of four blocks.
func squares() {
	TEXT("sumFourBlocksAVX2", NOSPLIT, "func(x *[16384]float32, sums *[4]float64)")
	Pragma("noescape")
	Doc("sumFourBlocksAVX2 is sumFourBlocksGeneric.")
	x := Load(Param("x"), GP64())
	sumProducts([]reg.Register{x}, func(at int) reg.VecVirtual {
		row := doubles(x, at)
		VMULPD(row, row, row)
		return row
	})
}

// dots generates the kernel that sums the products of four blocks of two vectors.
func dots() {
	TEXT("dotFourBlocksAVX2", NOSPLIT, "func(a, b *[16384]float32, sums *[4]float64)")
	Pragma("noescape")
	Doc("dotFourBlocksAVX2 is dotFourBlocksGeneric.")
	a, b := Load(Param("a"), GP64()), Load(Param("b"), GP64())
	sumProducts([]reg.Register{a, b}, func(at int) reg.VecVirtual {
		row := doubles(a, at)
		VMULPD(doubles(b, at), row, row)
		return row
	})
}

// sumProducts generates the loop over blocks of vectors. Each element of the sums belongs
// to one block and adds its products in order; row returns four consecutive products.
func sumProducts(vectors []reg.Register, row func(at int) reg.VecVirtual) {
	sums := Load(Param("sums"), GP64())
	left := GP64()
	MOVQ(U32(blockBytes), left)
	sum := YMM()
	VXORPD(sum, sum, sum)
	Label("loop")
	for i := range 2 {
		for _, products := range transposed(
			func(b int) reg.VecVirtual { return row(b*blockBytes + 16*i) }) {
			VADDPD(products, sum, sum)
		}
	}
	for _, v := range vectors {
		ADDQ(Imm(32), v)
	}
	SUBQ(Imm(32), left)
	JNZ(LabelRef("loop"))
	VMOVUPD(sum, Mem{Base: sums})
	VZEROUPPER()
	RET()
}

// doubles returns four elements of x as float64.
func doubles(x reg.Register, at int) reg.VecVirtual {
	v := YMM()
	VCVTPS2PD(Mem{Base: x, Disp: at}, v)
	return v
}

// transposed returns the transpose of four vectors of four elements: the first elements,
// the second elements, and so on.
func transposed(vector func(i int) reg.VecVirtual) [4]reg.VecVirtual {
	var row [4]reg.VecVirtual
	for i := range row {
		row[i] = vector(i)
	}
	even01, odd01 := unpack(row[0], row[1])
	even23, odd23 := unpack(row[2], row[3])
	return [4]reg.VecVirtual{
		halves(0x20, even01, even23), halves(0x20, odd01, odd23),
		halves(0x31, even01, even23), halves(0x31, odd01, odd23),
	}
}

// unpack returns elements 0 and 2 of a and b in turn, and elements 1 and 3.
func unpack(a, b reg.VecVirtual) (even, odd reg.VecVirtual) {
	even, odd = YMM(), YMM()
	VUNPCKLPD(b, a, even)
	VUNPCKHPD(b, a, odd)
	return even, odd
}

// halves joins the low halves of a and b, or the high ones with selection 0x31.
func halves(selection uint64, a, b reg.VecVirtual) reg.VecVirtual {
	v := YMM()
	VPERM2F128(Imm(selection), b, a, v)
	return v
}
