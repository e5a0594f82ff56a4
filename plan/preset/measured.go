package preset

import (
	"slices"

	"github.com/zofl/zofl/plan"
)

// measuredEvery is how many records are between the evaluations of [Measured].
const measuredEvery = 10

// Measured fills in what a plan's best needs and its author has not set: the metric among metrics,
// and evaluations every ten records by all members, because the values of a few devices differ by
// chance. set names the fields that the author has set. Measured does nothing unless best is one of
// them.
func Measured(p *plan.Plan, set ...string) {
	if !slices.Contains(set, "best") || p.Best == "" || p.BestOfTraining() {
		return
	}
	free := func(name string) bool { return !slices.Contains(set, name) }
	if free("metrics") && !slices.Contains(p.Metrics, p.Best) {
		p.Metrics = append(slices.Clone(p.Metrics), p.Best)
	}
	if free("eval_every") && p.EvalEvery == 0 {
		p.EvalEvery = measuredEvery
	}
	if free("eval_count") && p.EvalCount == 0 {
		p.EvalCount = max(p.Members, p.Target)
	}
}
