package valid

import "github.com/zofl/zofl/plan"

var robustRules = []rule{
	{when: "roots", own: func(p *plan.Plan) error { return checkList("roots", "device", p.Roots) }},
	{when: "bound", needs: "bound>=1", what: "it is below the median"},
	{when: "claim_bound", needs: "claim_bound>=1", what: "it is below the median"},
	{when: "bound", needs: "transport!=dense"},
	{when: "trust", needs: "transport=mean"},
	{when: "trust", needs: "roster=dense"},
	{when: "trust", needs: "bound>0"},
	{when: "trust", needs: "control=none"},
	{when: "trust", needs: "late=0"},
	{when: "roots", needs: "trust>0"},
	{when: "roots transport=mean",
		but:  func(p *plan.Plan) bool { return p.Sampled(p.Members) >= p.Members },
		what: "they must be asked in each round"},
	{when: "liars", needs: "transport=mean"},
	{when: "liars", needs: "aggregator=trimmed-mean"},
	{when: "liars", but: func(p *plan.Plan) bool { return len(p.Roots) == 0 },
		what: "roots tell liars by themselves"},
	{when: "liars", at: "quorum",
		but:  func(p *plan.Plan) bool { return uint64(p.Quorum) > 2*uint64(p.Liars) },
		what: "liars must be fewer than half of it"},
	{when: "liars",
		but:  func(p *plan.Plan) bool { return p.Sampled(plan.MaxMembers) <= plan.MaxMixed },
		what: "a round asks more than 1024 devices"},
}
