package valid

import (
	"fmt"
	"slices"

	"github.com/zofl/zofl/plan"
)

var evaluationRules = []rule{
	{when: "metrics", own: func(p *plan.Plan) error {
		return checkList("metrics", "metric", p.Metrics)
	}},
	{when: "eval_every", needs: "eval_count>0", at: "eval_count",
		what: "eval_every needs devices that evaluate"},
	{when: "eval_every", needs: "metrics", at: "metrics",
		what: "eval_every needs names for what an evaluation returns"},
	{when: "best", own: checkBest},
	{when: "best", but: measuresBest, at: "eval_every", what: "best needs evaluations"},
	{when: "best_when", needs: "best", at: "best"},
	{when: "min_delta", needs: "best", at: "best"},
}

func checkBest(p *plan.Plan) error {
	if p.BestOfTraining() || slices.Contains(p.Metrics, p.Best) {
		return nil
	}
	return fault("best", p.Best, fmt.Sprintf("it is neither loss nor one of metrics, which has %q",
		p.Metrics))
}

func measuresBest(p *plan.Plan) bool { return p.EvalEvery > 0 || p.BestOfTraining() }
