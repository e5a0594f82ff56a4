package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// chunk is the number of elements of a column that are processed at a time, and
// doubleBytes their size in float64.
const (
	chunk       = 32
	doubleBytes = 8 * chunk
	lanes       = 4 // float64 of a vector register
)

func begin(name, signature, doc string) {
	TEXT(name+"AVX2", NOSPLIT, signature)
	Pragma("noescape")
	Doc(name + "AVX2 is " + name + "Generic" + doc + ".")
}

// subspace generates the kernels of the Gram matrix and of R^-1.
func subspace() {
	widen()
	narrow()
	addTile()
	substitute()
}

func widen() {
	begin("widen", "func(dst *[32]float64, x *[32]float32)", " for a whole chunk")
	dst, x := Load(Param("dst"), GP64()), Load(Param("x"), GP64())
	for i := range chunk / lanes {
		VMOVUPD(doubles(x, 16*i), Mem{Base: dst, Disp: 32 * i})
	}
	VZEROUPPER()
	RET()
}

func narrow() {
	begin("narrow", "func(dst *[32]float32, x *[32]float64)", " for a whole chunk")
	dst, x := Load(Param("dst"), GP64()), Load(Param("x"), GP64())
	for i := range chunk / lanes {
		v := XMM()
		VCVTPD2PSY(Mem{Base: x, Disp: 32 * i}, v)
		VMOVUPS(v, Mem{Base: dst, Disp: 16 * i})
	}
	VZEROUPPER()
	RET()
}

// addTile keeps a row of the tile in a register; each of its elements adds its products in
// order.
func addTile() {
	begin("addTile", "func(sums *[4][4]float64, x, y *[4][32]float64)", " for four rows")
	sums := Load(Param("sums"), GP64())
	x, y := Load(Param("x"), GP64()), Load(Param("y"), GP64())
	var sum [lanes]reg.VecVirtual
	for i := range sum {
		sum[i] = YMM()
		VMOVUPD(Mem{Base: sums, Disp: 32 * i}, sum[i])
	}
	left := GP64()
	MOVQ(U32(doubleBytes), left)
	Label("loop")
	for e, elements := range transposed(func(k int) reg.VecVirtual {
		row := YMM()
		VMOVUPD(Mem{Base: y, Disp: doubleBytes * k}, row)
		return row
	}) {
		for i := range sum {
			v := YMM()
			VBROADCASTSD(Mem{Base: x, Disp: doubleBytes*i + 8*e}, v)
			VMULPD(elements, v, v)
			VADDPD(v, sum[i], sum[i])
		}
	}
	ADDQ(Imm(8*lanes), x)
	ADDQ(Imm(8*lanes), y)
	SUBQ(Imm(8*lanes), left)
	JNZ(LabelRef("loop"))
	for i := range sum {
		VMOVUPD(sum[i], Mem{Base: sums, Disp: 32 * i})
	}
	VZEROUPPER()
	RET()
}

// substitute keeps the chunk in registers while it subtracts the earlier columns.
func substitute() {
	begin("substitute", "func(t, q *[32]float64, r []float64)", "")
	t, q := Load(Param("t"), GP64()), Load(Param("q"), GP64())
	r, left := Load(Param("r").Base(), GP64()), Load(Param("r").Len(), GP64())
	var v [chunk / lanes]reg.VecVirtual
	for i := range v {
		v[i] = YMM()
		VMOVUPD(Mem{Base: t, Disp: 32 * i}, v[i])
	}
	coefficient := YMM()
	JMP(LabelRef("test"))
	Label("column")
	VBROADCASTSD(Mem{Base: r}, coefficient)
	for i := range v {
		product := YMM()
		VMULPD(Mem{Base: q, Disp: 32 * i}, coefficient, product)
		VSUBPD(product, v[i], v[i])
	}
	ADDQ(U32(doubleBytes), q)
	ADDQ(Imm(8), r)
	Label("test")
	DECQ(left)
	JNZ(LabelRef("column"))
	VBROADCASTSD(Mem{Base: r}, coefficient)
	for i := range v {
		VDIVPD(coefficient, v[i], v[i])
		VMOVUPD(v[i], Mem{Base: t, Disp: 32 * i})
	}
	VZEROUPPER()
	RET()
}
