package survey

import (
	"math"
	"slices"

	"github.com/zofl/zofl/plan"
)

// FirstSigma is the name of a survey of kind [Mu] that finds the first sigma of a plan with
// server_rule=cma.
const FirstSigma = "sigma"

// NameIn returns the name of a kind in the run of a plan: what the survey finds.
func (k Kind) NameIn(p *plan.Plan) string {
	if k == Mu && p.ServerRule == plan.ServerCMA {
		return FirstSigma
	}
	return k.String()
}

// Named returns the kind whose [Kind.String] or [Kind.NameIn] is name, or None.
func Named(name string) Kind {
	if name == FirstSigma {
		return Mu
	}
	return Kind(max(slices.Index(names, name), 0))
}

// Sigma says whether devices have still to find the first sigma of a plan with server_rule=cma,
// from the losses of [Mu]. Within boxes their sides tell it.
func Sigma(p *plan.Plan) bool {
	return p.ServerRule == plan.ServerCMA && p.StepAuto > 0 && p.StepSize == 0 && len(p.Boxes) == 0
}

// Queries returns how many loss evaluations a device of the plan needs to answer.
func (k Kind) Queries(p *plan.Plan) uint64 {
	switch {
	case k == Columns:
		return 0
	case k != Sketch:
		return uint64(k.Values())
	case p.Classes > 0: // the device counts samples instead
		return 0
	case p.Difference == plan.Central:
		return 2 * Sketched
	}
	return 1 + Sketched
}

// common is the largest slope that needs no unit of the loss; 1/common is the smallest. Half
// precision reaches to 65504 and keeps 11 bits down to 6e-5. So slopes from 1/common to common have
// room to grow and fall in a run. (Scalars of few bits have a scale in half precision.)
const common = 256

// LossUnit returns the number by which devices should divide the loss, given about how long slopes
// are before round 1. LossUnit is 0 where slopes need no unit, else a power of 2, because division
// by a power of 2 is exact.
func LossUnit(p *plan.Plan, slope float64) float32 {
	if p.ServerRule != plan.ServerNormalized || p.LossUnit > 0 ||
		!(slope > 0) || slope >= 1.0/common && slope <= common {
		return 0
	}
	_, exponent := math.Frexp(slope)
	return float32(math.Ldexp(1, min(max(exponent, -99), 99)))
}
