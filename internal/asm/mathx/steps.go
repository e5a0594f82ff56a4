package main

import (
	. "github.com/mmcloughlin/avo/build"
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

// adaptiveStep: the moments of delta, the greatest second one, and
// x += alpha * (m / sqrt(vhat+epsilon)).
func adaptiveStep(c constants, at operands) {
	delta := load(at["delta"])
	m, d := product(c["beta1"], at["m"]), product(c["gain1"], delta)
	VADDPS(d, m, m)
	v := product(c["beta2"], at["v"])
	VMULPS(delta, delta, delta)
	VMULPS(delta, c["gain2"], delta)
	VADDPS(delta, v, v)
	VMOVUPS(m, at["m"])
	VMOVUPS(v, at["v"])
	// v if v > vhat, else vhat: also if one is NaN, or both are zeros.
	VMAXPS(at["vhat"], v, v)
	VMOVUPS(v, at["vhat"])
	VADDPS(c["epsilon"], v, v)
	VSQRTPS(v, v)
	VDIVPS(v, m, m)
	VMULPS(m, c["alpha"], m)
	VADDPS(at["x"], m, m)
	VMOVUPS(m, at["x"])
}
