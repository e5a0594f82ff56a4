package valid

import (
	"github.com/zofl/zofl/internal/grouping"
	"github.com/zofl/zofl/internal/perclass"
	"github.com/zofl/zofl/plan"
)

var groupsRules = []rule{
	{when: "sharing=groups", needs: "transport!=dense", at: "transport"},
	{when: "sharing=groups groups!=random", needs: "roster=dense", at: "roster",
		what: "groups that are chosen by what devices are like need roster=dense"},
	{when: "sharing=groups", needs: "groups", at: "groups", what: "sharing=groups needs a way to " +
		"choose them"},
	{when: "groups", needs: "sharing=groups"},
	{when: "sharing=groups groups!=auto", needs: "group_size>0", at: "group_size"},
	{when: "group_size", needs: "groups!=auto"},
	{when: "group_size", needs: "sharing=groups"},
	{when: "sharing=groups", needs: "regroup>0", at: "regroup"},
	{when: "regroup", needs: "sharing=groups"},
	{when: "sharing=groups groups!=random", but: fewNamed, at: "target",
		what: "groups that are chosen by what devices are like have at most 128 of them a round"},
	{when: "sharing=groups", but: fillsGroups, at: "target",
		what: "the devices that a round asks do not fill its groups"},
	{when: "sharing=groups groups!=random", needs: "aggregator!=median aggregator!=trimmed-mean",
		at: "aggregator", what: "groups=sketch and groups=auto need a mean"},
	{when: "sharing=groups aggregator=trimmed-mean", at: "trim",
		but:  func(p *plan.Plan) bool { return float32(p.Trim*float32(p.GroupSize)) >= 1 },
		what: "it cuts off no device of a group"},

	{when: "classes", needs: "secure=none"},
	{when: "classes", needs: "dp_clip=0"},
	{when: "classes", needs: "groups=sketch"},
	{when: "classes", needs: "weights=equal"},
	{when: "classes", needs: "classes>1", what: "one class has nothing to tell apart"},
	{when: "classes", needs: "steps=1"},
	{when: "classes", needs: "aggregator=weighted-mean"},
	{when: "classes", but: func(p *plan.Plan) bool {
		return perclass.MostBytes(p, int(p.MaxPerturbations())) <= 4*plan.MaxScalars
	}, what: "the scalars of all classes do not fit a reply"},
}

func fewNamed(p *plan.Plan) bool {
	return !grouping.Names(p) || p.Sampled(plan.MaxMembers) <= grouping.MaxDevices
}

func fillsGroups(p *plan.Plan) bool {
	asked, size := p.Sampled(plan.MaxMembers), max(p.GroupSize, 1)
	return asked >= size && (!grouping.Names(p) || asked%size == 0)
}
