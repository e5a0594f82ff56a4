package survey

import (
	"math"
	"slices"

	"github.com/zofl/zofl/plan"
)

// Named returns the kind with a name, [Kind.String], None if there is none.
func Named(name string) Kind { return Kind(max(slices.Index(names, name), 0)) }

// Queries returns the loss evaluations with which a device of the plan answers.
func (k Kind) Queries(p *plan.Plan) uint64 {
	switch {
	case k != Sketch:
		return uint64(k.Values())
	case p.Classes > 0: // it counts its samples
		return 0
	case p.Difference == plan.Central:
		return 2 * Sketched
	}
	return 1 + Sketched
}

// common bounds the slopes that need no unit, and one over it those from below. Half precision,
// which also has the scale of few bits, reaches to 65504 and has 11 bits down to 6e-5: that leaves
// slopes room to grow and fall in a run.
const common = 256

// LossUnit returns what devices should divide slopes of the loss by, before round 1, where they are
// about so long: 0 where nothing has to be divided, else a power of 2, which costs no bit.
func LossUnit(p *plan.Plan, slope float64) float32 {
	if p.ServerRule != plan.ServerNormalized || p.LossUnit > 0 ||
		!(slope > 0) || slope >= 1.0/common && slope <= common {
		return 0
	}
	_, exponent := math.Frexp(slope)
	return float32(math.Ldexp(1, min(max(exponent, -99), 99)))
}
