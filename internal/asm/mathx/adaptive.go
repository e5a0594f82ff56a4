package main

import (
	. "github.com/mmcloughlin/avo/build"
	. "github.com/mmcloughlin/avo/operand"
	"github.com/mmcloughlin/avo/reg"
)

// adaptiveStep: the moments of delta, the largest second moment so far, and
// x += alpha * (m / sqrt(vhat+epsilon)).
func adaptiveStep(c constants, at operands) {
	m, v := moments(c, at)
	// v if v > vhat, else vhat: also if one is NaN, or both are zeros.
	VMAXPS(at["vhat"], v, v)
	VMOVUPS(v, at["vhat"])
	scaledStep(c, at, m, v)
}

// adamStep: the moments of delta, and x += alpha * (m / sqrt(v+epsilon)).
func adamStep(c constants, at operands) {
	m, v := moments(c, at)
	scaledStep(c, at, m, v)
}

// moments: m = beta1*m + gain1*delta, v = beta2*v + gain2*(delta*delta). It
// returns both.
func moments(c constants, at operands) (m, v reg.VecVirtual) {
	delta := load(at["delta"])
	m, d := product(c["beta1"], at["m"]), product(c["gain1"], delta)
	VADDPS(d, m, m)
	v = product(c["beta2"], at["v"])
	VMULPS(delta, delta, delta)
	VMULPS(delta, c["gain2"], delta)
	VADDPS(delta, v, v)
	VMOVUPS(m, at["m"])
	VMOVUPS(v, at["v"])
	return m, v
}

// yogiStep: m as in moments, v closer to the square by gain2 times the square, and
// x += alpha * (m / sqrt(v+epsilon)).
func yogiStep(c constants, at operands) {
	delta, v := load(at["delta"]), load(at["v"])
	m, d := product(c["beta1"], at["m"]), product(c["gain1"], delta)
	VADDPS(d, m, m)
	VMOVUPS(m, at["m"])
	VMULPS(delta, delta, delta)
	change, moved, where := product(c["gain2"], delta), YMM(), YMM()
	// Both comparisons use v before it changes; neither is true for a NaN.
	below := YMM()
	VCMPPS(Imm(17), delta, v, below) // v < square
	VCMPPS(Imm(30), delta, v, where) // v > square
	VSUBPS(change, v, moved)
	VADDPS(change, v, change)
	VBLENDVPS(below, change, v, v)
	VBLENDVPS(where, moved, v, v)
	VMOVUPS(v, at["v"])
	scaledStep(c, at, m, v)
}

// scaledStep: x += alpha * (m / sqrt(v+epsilon)).
func scaledStep(c constants, at operands, m, v reg.VecVirtual) {
	VADDPS(c["epsilon"], v, v)
	VSQRTPS(v, v)
	VDIVPS(v, m, m)
	VMULPS(m, c["alpha"], m)
	VADDPS(at["x"], m, m)
	VMOVUPS(m, at["x"])
}
