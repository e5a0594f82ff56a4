package valid

import (
	"slices"

	"github.com/zofl/zofl/internal/grouping"
	"github.com/zofl/zofl/internal/perclass"
	"github.com/zofl/zofl/plan"
)

// groupRefusals are of plans whose devices share directions by groups.
var groupRefusals = slices.Concat([]refusal{
	{"transport", onDense, grouped, "transport=dense has no groups"},
	{"roster", onAll, func(p *plan.Plan) bool {
		return grouped(p) && p.Groups != grouping.Random && p.Roster == plan.OpenRoster
	},
		"groups that are chosen by what devices are like need roster=dense"},
	{"groups", onAll, func(p *plan.Plan) bool { return grouped(p) == (p.Groups == grouping.None) },
		"sharing=groups needs a way to choose them, and nothing else has one"},
	{"group_size", onAll, func(p *plan.Plan) bool {
		return p.Groups != grouping.Auto && grouped(p) != (p.GroupSize > 0)
	},
		"groups=random and groups=sketch need one, and other plans have none"},
	{"group_size", onAll, func(p *plan.Plan) bool {
		return p.Groups == grouping.Auto && p.GroupSize > 0
	},
		"groups=auto has its own"},
	{"regroup", onAll, func(p *plan.Plan) bool { return grouped(p) != (p.Regroup > 0) },
		"sharing=groups needs 1 or more, and nothing else has one"},
	{"target", onAll, func(p *plan.Plan) bool {
		return grouping.Names(p) && p.Sampled(plan.MaxMembers) > grouping.MaxDevices
	},
		"groups that are chosen by what devices are like have at most 128 of them a round"},
	{"target", onAll, func(p *plan.Plan) bool {
		asked, size := p.Sampled(plan.MaxMembers), max(p.GroupSize, 1)
		return grouped(p) && (asked < size || grouping.Names(p) && asked%size != 0)
	},
		"the devices that a round asks do not fill its groups"},
	{"aggregator", onAll, func(p *plan.Plan) bool {
		return (p.Groups == grouping.Sketch || p.Groups == grouping.Auto) &&
			(p.Aggregator == plan.Median || p.Aggregator == plan.TrimmedMean)
	},
		"groups=sketch and groups=auto need a mean"},
	{"late", onAll, func(p *plan.Plan) bool { return grouped(p) && p.Late > 0 },
		"sharing=groups takes no late work"},
	{"trim", onAll, func(p *plan.Plan) bool {
		return grouped(p) && p.Aggregator == plan.TrimmedMean &&
			float32(p.Trim*float32(p.GroupSize)) < 1
	},
		"it cuts off no device of a group"},
}, of(classed, []refusal{
	{"classes", onAll, func(p *plan.Plan) bool { return p.Secure > 0 },
		"secure=sum shows no scalars of a device"},
	{"classes", onAll, func(p *plan.Plan) bool { return p.DPClip > 0 },
		"dp_clip hides no numbers of samples"},
	{"classes", onAll, func(p *plan.Plan) bool { return p.Groups != grouping.Sketch },
		"it needs groups=sketch"},
	{"classes", onAll, func(p *plan.Plan) bool { return p.Weights != plan.Equal },
		"it needs weights=equal"},
	{"classes", onAll, func(p *plan.Plan) bool { return p.Classes == 1 },
		"one class has nothing to tell apart"},
	{"classes", onAll, func(p *plan.Plan) bool { return p.Steps > 1 },
		"it needs steps=1"},
	{"classes", onAll, func(p *plan.Plan) bool { return p.Aggregator != plan.WeightedMean },
		"it needs aggregator=weighted-mean"},
	{"classes", onAll, func(p *plan.Plan) bool {
		return perclass.MostBytes(p, int(p.MaxPerturbations())) > 4*plan.MaxScalars
	},
		"the scalars of all classes do not fit a reply"},
}))

func grouped(p *plan.Plan) bool { return p.Sharing == plan.GroupDirections }

func classed(p *plan.Plan) bool { return p.Classes > 0 }
