package cost

import (
	"github.com/zofl/zofl/internal/grouping"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire/survey"
)

// Surveys returns the loss evaluations of a device that are of no round: once a run asks for them,
// to find mu and the step, and to group devices. Sketches are asked for again where many devices
// join later.
func Surveys(p *plan.Plan) (sum uint64) {
	if p.MuAuto > 0 && p.Mu == 0 {
		sum += survey.Mu.Queries(p)
	}
	if p.StepAuto > 0 && p.StepSize == 0 {
		sum += survey.Step.Queries(p)
	}
	if p.Groups == grouping.Sketch {
		sum += survey.Sketch.Queries(p)
	}
	return sum
}
