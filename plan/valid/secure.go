package valid

import (
	"slices"

	"github.com/zofl/zofl/plan"
)

// leastSum is the least quorum of secure aggregation: a contributor knows its own scalars, so a sum
// of two would reveal the other's.
const leastSum = 3

// mostSummed bounds the devices of a round of secure aggregation: the more they are, the fewer
// levels each one's scalars have.
const mostSummed = 4096

// mostAgreeing bounds the devices of a round that agree on lists: among more, some are not
// neighbors.
const mostAgreeing = 100

// secureRefusals are of plans with secure aggregation. They leave nothing that needs the numbers of
// a single device, or sends them.
var secureRefusals = slices.Concat([]refusal{
	{"secure_range", onAll, func(p *plan.Plan) bool { return p.Secure == 0 && p.SecureRange > 0 },
		"only secure=sum has it"},
}, of((*plan.Plan).Summed, []refusal{
	{"secure", onDense, nil, "transport=dense sends vectors"},
	{"secure", onRelay, nil, "transport=relay shows single contributions"},
	{"secure", onMean, func(p *plan.Plan) bool { return p.Roster == plan.OpenRoster },
		"it needs roster=dense"},
	{"secure", onMean, func(p *plan.Plan) bool { return p.Weights != plan.Equal },
		"it needs weights=equal"},
	{"secure", onMean, func(p *plan.Plan) bool { return p.Aggregator != plan.WeightedMean },
		"it needs aggregator=weighted-mean"},
	{"secure", onMean, func(p *plan.Plan) bool { return p.Control != plan.NoControl },
		"it needs control=none"},
	{"secure", onMean, func(p *plan.Plan) bool { return p.Late > 0 },
		"it takes no late work"},
	{"secure", onMean, func(p *plan.Plan) bool {
		return p.Bound > 0 || p.ClaimBound > 0 || p.Trust > 0
	},
		"it excludes bound, claim_bound and trust"},
	{"secure", onMean, func(p *plan.Plan) bool { return p.MuAuto > 0 && p.StepAuto > 0 },
		"mu=auto and step=auto send single losses"},
	{"secure", onMean, func(p *plan.Plan) bool { return p.MuAuto > 0 },
		"mu=auto sends single losses"},
	{"secure", onMean, func(p *plan.Plan) bool { return p.StepAuto > 0 },
		"step=auto sends single losses"},
	{"secure", onMean, func(p *plan.Plan) bool { return p.EvalEvery > 0 },
		"evaluations send single metrics"},
	{"secure", onMean, func(p *plan.Plan) bool {
		_, coordinator := p.Noisy()
		return coordinator
	},
		"dp_by=coordinator cuts single contributions"},
	{"quorum", onMean, func(p *plan.Plan) bool { return p.Quorum < leastSum },
		"secure=sum needs 3 or more"},
	{"target", onMean, func(p *plan.Plan) bool { return p.Sampled(plan.MaxMembers) > mostSummed },
		"secure=sum asks at most 4096 devices"},
}), []refusal{
	{"secure_lists", onAll, func(p *plan.Plan) bool { return p.Secure == 0 && p.SecureLists > 0 },
		"only secure=sum has lists"},
	{"secure_lists", onMean, func(p *plan.Plan) bool { return p.SecureLists > 0 && !p.Private() },
		"devices agree by a secret"},
	{"secure_lists", onMean, func(p *plan.Plan) bool {
		return p.SecureLists > 0 && p.Sampled(plan.MaxMembers) > mostAgreeing
	},
		"at most 100 devices agree"},
})
