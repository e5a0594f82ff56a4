package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// axpy: dst += a*x.
func axpy(c constants, at operands) {
	t := product(c["a"], at["x"])
	VADDPS(at["dst"], t, t)
	VMOVUPS(t, at["dst"])
}

// descend: x -= eta*v.
func descend(c constants, at operands) {
	descendAlong(at, product(c["eta"], at["v"]))
}

// descendAlong: x -= move.
func descendAlong(at operands, move reg.VecVirtual) {
	x := load(at["x"])
	VSUBPS(move, x, x)
	VMOVUPS(x, at["x"])
}

// momentum: m = beta*m + gain*v. It returns m.
func momentum(c constants, at operands) reg.VecVirtual {
	m, v := product(c["beta"], at["m"]), product(c["gain"], at["v"])
	VADDPS(v, m, m)
	VMOVUPS(m, at["m"])
	return m
}

// momentumStep: momentum, and x -= eta*m.
func momentumStep(c constants, at operands) {
	m := momentum(c, at)
	descendAlong(at, product(c["eta"], m))
}

// scale: dst = a*x.
func scale(c constants, at operands) {
	VMOVUPS(product(c["a"], at["x"]), at["dst"])
}

// subtract: dst = a - b.
func subtract(_ constants, at operands) {
	v := load(at["a"])
	VSUBPS(at["b"], v, v)
	VMOVUPS(v, at["dst"])
}

// signStep: x += alpha with the sign of delta, x if delta is a zero, delta if
// it is a NaN.
func signStep(c constants, at operands) {
	delta, x := load(at["delta"]), load(at["x"])
	sign, other := YMM(), YMM()
	VPCMPEQD(sign, sign, sign)
	VPSLLD(Imm(31), sign, sign)
	VANDPS(delta, sign, sign)
	VXORPS(c["alpha"], sign, sign)
	VADDPS(x, sign, sign)
	VXORPS(other, other, other)
	VCMPPS(Imm(0), delta, other, other) // delta == 0
	VBLENDVPS(other, x, sign, sign)
	VCMPPS(Imm(3), delta, delta, other) // unordered: a NaN
	VBLENDVPS(other, delta, sign, sign)
	VMOVUPS(sign, at["x"])
}
