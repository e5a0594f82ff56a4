package preset

import (
	"slices"

	"github.com/zofl/zofl/plan"
)

// The limits up to which a run of zofl or zofl-shared begins with a short overture: parameters, or
// loss evaluations of a device.
const (
	fewParameters  = 50
	fewEvaluations = 500
	veryFew        = 20 // parameters, for whose first move the directions of one round suffice
)

// Overture shortens what devices of zofl and zofl-shared measure before the model moves, if a
// device has at most 500 loss evaluations, or the model at most 50 parameters: devices look for the
// step after two rounds instead of five, below 20 parameters after one. So few parameters also need
// fewer directions, and a momentum that forgets sooner. evaluations are those of a device in the
// whole run; 0 means that the plan's rounds tell. set names the fields that the plan's author has
// set; Overture does not change them.
//
// [New] and [Unbound] call Overture. Call it again when dim or rounds are set, before [Fit].
func Overture(p *plan.Plan, evaluations uint64, set ...string) {
	if p.Preset != "zofl" && p.Preset != "zofl-shared" {
		return
	}
	a := &author{slices.Clone(set)}
	few := p.Dim > 0 && p.Dim <= fewParameters
	if few {
		give(a, "perturbations", &p.Perturbations, uint32(min(max(p.Dim/2, 4), 10)))
	}
	if few && p.Dim < veryFew {
		give(a, "server_beta1", &p.ServerBeta1, 0.7)
	}
	if evaluations == 0 {
		evaluations = p.Rounds * p.PhaseQueries(0, p.Perturbations)
	}
	few = few || evaluations > 0 && evaluations <= fewEvaluations
	if few && p.StepAuto > 0 && p.StepSize == 0 {
		after := uint32(2)
		if p.Dim > 0 && p.Dim < veryFew {
			after = 1
		}
		give(a, "step_after", &p.StepAfter, after)
	}
}
