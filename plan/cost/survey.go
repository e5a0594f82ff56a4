package cost

import (
	"github.com/zofl/zofl/internal/grouping"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire/survey"
)

// Surveys returns the loss evaluations of a device outside of rounds: the surveys that find mu and
// the step size, and that group devices. Surveys counts each survey once, although a run repeats
// the survey for groups if many devices join later.
func Surveys(p *plan.Plan) (sum uint64) {
	if p.MuAuto > 0 && p.Mu == 0 || survey.Sigma(p) {
		sum += survey.Mu.Queries(p)
	}
	if p.StepAuto > 0 && p.StepSize == 0 && p.ServerRule != plan.ServerCMA {
		sum += survey.Step.Queries(p)
	}
	if p.Groups == grouping.Sketch {
		sum += survey.Sketch.Queries(p)
	}
	return sum
}
