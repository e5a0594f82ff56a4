package valid

import "github.com/zofl/zofl/wire"

// autoRefusals are of plans whose devices find a value.
var autoRefusals = []refusal{
	{"mu_auto", onAll, func(p *wire.Plan) bool {
		return p.MuAuto > 0 && p.Estimator != wire.Differences
	},
		"only estimator=differences has a mu to find"},
}
