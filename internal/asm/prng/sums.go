package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// setSums doubles the sums five times: t[i+n] = t[i] - a, t[i] += a, where n is the number
// of sums so far.
func setSums() {
	begin("setSumsAVX2", "sums *[256]float32, a *[5]float32",
		"makes 256 sums of the first 8, adding plus or minus five more coefficients.")
	sums, coefficients := Load(Param("sums"), GP64()), Load(Param("a"), GP64())
	for j := range 5 {
		a := YMM()
		VBROADCASTSS(Mem{Base: coefficients, Disp: 4 * j}, a)
		n := 32 << j // bytes
		for i := 0; i < n; i += 32 {
			sum, less := YMM(), YMM()
			VMOVUPS(Mem{Base: sums, Disp: i}, sum)
			VSUBPS(a, sum, less)
			VADDPS(a, sum, sum)
			VMOVUPS(less, Mem{Base: sums, Disp: i + n})
			VMOVUPS(sum, Mem{Base: sums, Disp: i})
		}
	}
	VZEROUPPER()
	RET()
}

// addSums works on four words of each of eight sign vectors at a time, 256
// elements.
func addSums() {
	begin("addSumsAVX2", "dst *float32, quads int, sums *[256]float32, s *[8][64]uint64",
		"adds to dst, so many times 256 elements, the sums that the signs select.")
	indices := local(256)
	dst, quads := Load(Param("dst"), GP64()), Load(Param("quads"), GP64())
	sums, s := Load(Param("sums"), GP64()), Load(Param("s"), GP64())
	all := YMM() // all bits; copying it as a mask costs less than a comparison
	VPCMPEQD(all, all, all)
	TESTQ(quads, quads)
	JZ(LabelRef("done"))
	Label("quad")
	storeIndices(indices, interleave(transpose(s)))
	ADDQ(Imm(32), s)
	addSelected(dst, sums, indices, all)
	ADDQ(U32(1024), dst)
	DECQ(quads)
	JNZ(LabelRef("quad"))
	Label("done")
	VZEROUPPER()
	RET()
}

// transpose loads four words of each term and turns the 8x8 bits of each byte
// position: byte k of the word of term j, which has elements 8k to 8k+7,
// becomes element 8k+j of all terms.
func transpose(s reg.Register) (w [8]reg.VecVirtual) {
	for j := range w {
		w[j] = YMM()
		VMOVDQU(Mem{Base: s, Disp: 512 * j}, w[j])
	}
	for _, by := range []struct {
		shift uint64
		mask  uint64
		step  int
	}{{4, 0x0f0f0f0f0f0f0f0f, 4}, {2, 0x3333333333333333, 2}, {1, 0x5555555555555555, 1}} {
		r, x, mask := GP64(), XMM(), YMM()
		MOVQ(U64(by.mask), r)
		VMOVQ(r, x)
		VPBROADCASTQ(x, mask)
		for j := range w {
			if j&by.step == 0 {
				swap(w[j], w[j+by.step], mask, by.shift)
			}
		}
	}
	return w
}

// swap exchanges the bits of hi under mask with the bits of lo under mask<<shift.
func swap(lo, hi, mask reg.VecVirtual, shift uint64) {
	t := YMM()
	VPSRLQ(Imm(shift), lo, t)
	VPXOR(hi, t, t)
	VPAND(mask, t, t)
	VPXOR(t, hi, hi)
	VPSLLQ(Imm(shift), t, t)
	VPXOR(t, lo, lo)
}

// interleave orders the bytes, which are indices, like the elements: vector 4h+q has
// elements 16q to 16q+15 of word h in its low half and those of word h+2 in its high half.
func interleave(w [8]reg.VecVirtual) (v [8]reg.VecVirtual) {
	var low, high [4]reg.VecVirtual // bytes of two terms, of words 0 2 and 1 3
	for i := range low {
		low[i], high[i] = unpack(VPUNPCKLBW, VPUNPCKHBW, w[2*i], w[2*i+1])
	}
	for h, b := range [][4]reg.VecVirtual{low, high} {
		a0, a1 := unpack(VPUNPCKLWD, VPUNPCKHWD, b[0], b[1]) // of terms 0 to 3
		b0, b1 := unpack(VPUNPCKLWD, VPUNPCKHWD, b[2], b[3])
		v[4*h], v[4*h+1] = unpack(VPUNPCKLDQ, VPUNPCKHDQ, a0, b0)
		v[4*h+2], v[4*h+3] = unpack(VPUNPCKLDQ, VPUNPCKHDQ, a1, b1)
	}
	return v
}

func unpack(lower, higher func(ops ...Op), a, b reg.VecVirtual) (low, high reg.VecVirtual) {
	low, high = YMM(), YMM()
	lower(b, a, low)
	higher(b, a, high)
	return low, high
}

// storeIndices writes the 256 indices to the stack frame, in order.
func storeIndices(indices Mem, v [8]reg.VecVirtual) {
	for i, x := range v {
		h, q := i/4, i%4
		VMOVDQU(x.AsX(), indices.Offset(64*h+16*q))
		VEXTRACTI128(Imm(1), x, indices.Offset(64*(h+2)+16*q))
	}
}

// addSelected adds the sums at 256 indices to dst.
func addSelected(dst, sums reg.Register, indices Mem, all reg.VecVirtual) {
	for i := range 32 {
		k, v, mask := YMM(), YMM(), YMM()
		VPMOVZXBD(indices.Offset(8*i), k)
		VPXOR(v, v, v) // breaks the dependency on the old value
		VMOVDQA(all, mask)
		VGATHERDPS(mask, Mem{Base: sums, Index: k, Scale: 4}, v)
		VADDPS(Mem{Base: dst, Disp: 32 * i}, v, v)
		VMOVUPS(v, Mem{Base: dst, Disp: 32 * i})
	}
}
