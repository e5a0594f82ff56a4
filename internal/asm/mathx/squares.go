package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// Bytes of a block of 4096 elements, and how many blocks are summed at once.
const (
	blockBytes = 4 * 4096
	blocks     = 4
)

// squares writes the kernel that sums the squares of four blocks: an element of
// the sums belongs to a block and takes its squares in their order.
func squares() {
	TEXT("sumFourBlocksAVX2", NOSPLIT, "func(x *[16384]float32, sums *[4]float64)")
	Pragma("noescape")
	Doc("sumFourBlocksAVX2 is sumFourBlocksGeneric.")
	x := Load(Param("x"), GP64())
	sums := Load(Param("sums"), GP64())
	left := GP64()
	MOVQ(U32(blockBytes), left)
	sum := YMM()
	VXORPD(sum, sum, sum)
	Label("loop")
	for i := range 2 {
		for _, square := range transposed(x, 16*i) {
			VADDPD(square, sum, sum)
		}
	}
	ADDQ(Imm(32), x)
	SUBQ(Imm(32), left)
	JNZ(LabelRef("loop"))
	VMOVUPD(sum, Mem{Base: sums})
	VZEROUPPER()
	RET()
}

// transposed returns the squares of four consecutive elements: the first of
// each block, the second of each, and so on.
func transposed(x reg.Register, offset int) [4]reg.VecVirtual {
	var row [blocks]reg.VecVirtual
	for b := range row {
		row[b] = YMM()
		VCVTPS2PD(Mem{Base: x, Disp: b*blockBytes + offset}, row[b])
		VMULPD(row[b], row[b], row[b])
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

// halves joins the low halves of a and b, or with selection 0x31 the high ones.
func halves(selection uint64, a, b reg.VecVirtual) reg.VecVirtual {
	v := YMM()
	VPERM2F128(Imm(selection), b, a, v)
	return v
}
