package valid

import "github.com/zofl/zofl/plan"

// autoRefusals are of plans whose devices find a value.
var autoRefusals = []refusal{
	{"mu_auto", onAll, func(p *plan.Plan) bool {
		return p.MuAuto > 0 && p.Estimator != plan.Differences
	},
		"only estimator=differences has a mu to find"},
	{"step_auto", onAll, func(p *plan.Plan) bool { return p.StepAuto > 0 && !normalized(p) },
		"step=auto needs server_rule=normalized"},
	{"step_decay", onAll, func(p *plan.Plan) bool {
		return p.StepAuto > 0 && p.StepDecay != plan.Constant
	},
		"step=auto has its own"},
	{"loss_unit", onAll, func(p *plan.Plan) bool { return p.LossUnit > 0 && !normalized(p) },
		"loss_unit needs server_rule=normalized"},
}
