package server

import (
	"math"

	"github.com/zofl/zofl/mathx"
	"github.com/zofl/zofl/plan"
)

// Running holds the numbers that [plan.ServerNormalized] keeps beside m: V, the running mean of
// squared scalars, and the running products of the decay factors, 1 before the first round.
type Running struct{ V, P1, P2 float64 }

// NewRunning returns the numbers before the first round.
func NewRunning() Running { return Running{P1: 1, P2: 1} }

// Can reports whether some sequence of rounds can lead to the numbers of n.
func (n *Running) Can() bool {
	share := func(p float64) bool { return p >= 0 && p <= 1 }
	return !(n.V < 0) && share(n.P1) && share(n.P2)
}

// Count counts a round whose scalars have the mean square u. u = 0 leaves V and its product p2
// unchanged, because then only late contributions came, or all slopes were 0, so the round does not
// show how large slopes are. Count returns the factor of m in a step, 1/((1-p1) sqrt(V^)), or 0
// while V^ is 0.
//
//	p1 *= beta1
//	if u != 0 {
//		V = float64(beta2*V) + float64((1-beta2)*u)
//		p2 *= beta2
//	}
//	return 1 / float64((1-p1)*math.Sqrt(V/(1-p2)))
func (n *Running) Count(p *plan.Plan, u float64) float64 {
	n.P1 *= float64(p.ServerBeta1)
	if u != 0 {
		beta := float64(p.ServerBeta2)
		n.V = float64(beta*n.V) + float64((1-beta)*u)
		n.P2 *= beta
	}
	return n.Inverse()
}

// Inverse returns the result of the last Count.
func (n *Running) Inverse() float64 {
	if !(n.V > 0) {
		return 0
	}
	return 1 / float64((1-n.P1)*math.Sqrt(n.V/(1-n.P2)))
}

// Step makes a step of size a along g, a block of a round's mean estimate. inverse is what
// [Running.Count] returned. Step computes keep and rate in float64 and rounds them once; a rate
// beyond float32 counts as 0. With keep = 1, Step leaves out the line with keep. With a rate of 0,
// Step leaves out the last line.
//
//	keep, rate := float32(1-float64(lambda*a)), float32(a*inverse)
//	m[i] = float32(beta1*m[i]) + float32((1-beta1)*g[i])
//	x[i] = keep*x[i]
//	x[i] -= float32(rate*m[i])
func Step(p *plan.Plan, x, m, g []float32, a, inverse float64) {
	keep := float32(1 - float64(float64(p.ServerDecay)*a))
	rate, gain := float32(a*inverse), 1-p.ServerBeta1
	for len(x) > 0 {
		n := min(stepLen, len(x))
		if keep != 1 {
			mathx.Scale(x[:n], keep, x[:n])
		}
		if rate > 0 && rate <= math.MaxFloat32 {
			mathx.MomentumStep(x[:n], m[:n], p.ServerBeta1, gain, rate, g[:n])
		} else {
			mathx.Momentum(m[:n], p.ServerBeta1, gain, g[:n])
		}
		x, m, g = x[n:], m[n:], g[n:]
	}
}

// stepLen is how many elements Step passes at a time: x, m and g of so many fit in the first cache.
const stepLen = 2048
