package probe

import (
	"math"

	"github.com/zofl/zofl/plan"
)

// setWeights sets the weights to w - w_i, and says whether the device corrects its gradients. The
// device corrects its gradients after the first round, if it knows its own last w_i.
func (e *estimation) setWeights() bool {
	w, own, t := e.replica.Weights(), &e.prober.memory.own, e.prober.memory.trajectory
	if e.plan.Correction == plan.CorrectionZero || own.n == 0 || allZero(w) {
		return false
	}
	for j, v := range w {
		t.weights[j] = float64(v) - float64(own.v[j])
	}
	if e.plan.CorrectionAt == plan.AtRound {
		t.features.Gradient(t.correction, t.first, t.weights)
	}
	return true
}

// correctGradient adds the correction of FZooS (5) to the gradient of a local step. Steps count
// from 1.
func (e *estimation) correctGradient(step int) {
	t, at := e.prober.memory.trajectory, e.prober.memory.trajectory.first
	if e.plan.CorrectionAt == plan.AtIterate {
		at = t.u
		t.features.Gradient(t.correction, at, t.weights)
	}
	gamma := e.gamma(step, at)
	for i, v := range t.correction {
		t.gradient[i] += gamma * v
	}
}

// gamma is the factor of the correction at v in a local step.
func (e *estimation) gamma(step int, v []float64) float64 {
	switch e.plan.Correction {
	case plan.CorrectionOne:
		return 1
	case plan.CorrectionTheory:
		return e.theoryGamma(v)
	}
	return 1 / float64(step)
}

// confidence is delta in the definition of omega in Corollary E.1.
const confidence = 0.1

// theoryGamma is gamma of FZooS's Corollary E.1,
//
//	G / (G + 2 (omega kappa - 4 omega iota k'(iota)^2 / (d + sigma^2 d/(rT)) + N epsilon))
//
// with omega = d + 2 (sqrt(d) + 1) ln(1/0.1), rT the number of this device's points, N the plan's
// members and epsilon = 1/M. kappa = 1/l^2 is the prior variance of a derivative. iota is the mean
// squared distance from v to the points of this device, and k' = -exp(-iota/(2 l^2)) / (2 l^2) is
// the slope of the kernel in iota. In the paper, iota includes the points of all devices, but no
// device knows all these points.
func (e *estimation) theoryGamma(v []float64) float64 {
	t, p := e.prober.memory.trajectory, e.plan
	d, points := float64(len(v)), float64(t.process.Len())
	iota := t.distance(v)
	l2 := float64(p.LengthScale) * float64(p.LengthScale)
	kappa, slope := 1/l2, -math.Exp(-iota/(2*l2))/(2*l2)
	omega := d + 2*(math.Sqrt(d)+1)*math.Log(1/confidence)
	unknown := omega*kappa - 4*omega*iota*slope*slope/(d+float64(p.Noise)*d/points)
	return float64(p.Heterogeneity) /
		(float64(p.Heterogeneity) + 2*(max(unknown, 0)+float64(p.Members)/float64(p.Features)))
}

// distance returns the mean squared distance from v to the points.
func (t *trajectory) distance(v []float64) float64 {
	sum := 0.0
	for i := range t.process.Len() {
		x, _ := t.process.Point(i)
		for j, a := range x {
			sum += (a - v[j]) * (a - v[j])
		}
	}
	return sum / float64(t.process.Len())
}
