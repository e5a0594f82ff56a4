package valid

import (
	"slices"

	"github.com/zofl/zofl/plan"
)

// guardRefusals are of plans that limit what one device can do.
var guardRefusals = slices.Concat([]refusal{
	{"bound", onAll, func(p *plan.Plan) bool { return p.Bound > 0 && p.Bound < 1 },
		"it is below the median"},
	{"claim_bound", onAll, func(p *plan.Plan) bool { return p.ClaimBound > 0 && p.ClaimBound < 1 },
		"it is below the median"},
	{"bound", onDense, func(p *plan.Plan) bool { return p.Bound > 0 },
		"transport=dense sends no scalars"},
}, of(trusting, []refusal{
	{"trust", onAll, func(p *plan.Plan) bool { return p.Transport != plan.Mean },
		"it needs transport=mean"},
	{"trust", onMean, func(p *plan.Plan) bool { return p.Roster == plan.OpenRoster },
		"it needs roster=dense"},
	{"trust", onMean, func(p *plan.Plan) bool { return p.Bound == 0 },
		"it needs a bound"},
	{"trust", onMean, func(p *plan.Plan) bool { return p.Control != plan.NoControl },
		"it needs control=none"},
	{"trust", onMean, func(p *plan.Plan) bool { return p.Late > 0 },
		"it takes no late work"},
}), []refusal{
	{"roots", onAll, func(p *plan.Plan) bool { return len(p.Roots) > 0 && p.Trust == 0 },
		"they need trust"},
	{"roots", onMean, func(p *plan.Plan) bool {
		return len(p.Roots) > 0 && p.Sampled(p.Members) < p.Members
	}, "they must be asked in each round"},
})

func trusting(p *plan.Plan) bool { return p.Trust > 0 }
