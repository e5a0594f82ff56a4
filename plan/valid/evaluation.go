package valid

import "github.com/zofl/zofl/plan"

var evaluationRules = []rule{
	{when: "metrics", own: func(p *plan.Plan) error {
		return checkList("metrics", "metric", p.Metrics)
	}},
	{when: "eval_every", needs: "eval_count>0", at: "eval_count",
		what: "eval_every needs devices that evaluate"},
	{when: "eval_every", needs: "metrics", at: "metrics",
		what: "eval_every needs names for what an evaluation returns"},
}
