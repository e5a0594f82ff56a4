package preset

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/zofl/zofl/internal/grouping"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/valid"
)

// mannerFields are the fields that say how devices share directions. A plan must change these
// fields together.
var mannerFields = []string{"sharing", "transport", "groups", "group_size", "regroup",
	"precision"}

// manners lists the values of mannerFields that a plan of the preset zofl may have; the preset's
// own values come first. A plan gets the first entry with which it can run. The second entry is for
// rounds that ask many devices of which few count, the third for late contributions, the fourth for
// open rosters and rounds of many devices, and the fifth for medians.
var manners = []plan.Plan{
	{
		ProbeFields:     plan.ProbeFields{Sharing: plan.GroupDirections},
		GroupsFields:    plan.GroupsFields{Groups: grouping.Auto, Regroup: 10},
		AggregateFields: plan.AggregateFields{Transport: plan.Relay, Precision: plan.Int8},
	},
	{
		ProbeFields:     plan.ProbeFields{Sharing: plan.PerClient},
		AggregateFields: plan.AggregateFields{Transport: plan.Relay, Precision: plan.Int4},
	},
	{
		ProbeFields:     plan.ProbeFields{Sharing: plan.PerClient},
		AggregateFields: plan.AggregateFields{Transport: plan.Relay, Precision: plan.Half},
	},
	{
		ProbeFields:     plan.ProbeFields{Sharing: plan.GroupDirections},
		GroupsFields:    plan.GroupsFields{Groups: grouping.Random, Regroup: 1},
		AggregateFields: plan.AggregateFields{Transport: plan.Relay, Precision: plan.Int8},
	},
	{
		ProbeFields:     plan.ProbeFields{Sharing: plan.SharedDirections},
		AggregateFields: plan.AggregateFields{Transport: plan.Mean, Precision: plan.Half},
	},
}

// fewest is the least number of devices of a group that devices of an open roster draw.
const fewest = 5

// mannersFor returns the manners that a plan may have. Random groups are only for plans whose
// devices draw them, because better kinds of groups exist for the others. Random groups are not for
// medians either: the median of a small group resists fewer lying devices. Where many devices
// count, own directions come last: each device would replay the directions of all.
func mannersFor(p *plan.Plan) (list []plan.Plan) {
	asked, most := p.Sampled(plan.MaxMembers), grouping.Enough(p)
	open, many := p.Roster == plan.OpenRoster, asked > grouping.MaxDevices && p.Target > most
	draws := (open || many) && (p.Aggregator == plan.WeightedMean || p.Aggregator == plan.ClippedMean)
	var own []plan.Plan
	for _, m := range manners {
		switch {
		case m.Groups == grouping.Random && !draws:
		case m.Sharing == plan.PerClient && many:
			own = append(own, m)
		case m.Groups == grouping.Random:
			m.GroupSize = max(asked/most, fewest)
			list = append(list, m)
		default:
			list = append(list, m)
		}
	}
	return append(list, own...)
}

// Fit changes a plan of the preset zofl that cannot run because its author set fields that exclude
// the preset's way of sharing directions. set names the fields that the author has set. Fit changes
// only fields of sharing, transport, groups, group_size, regroup and precision that come from the
// preset and are not in set. Fit changes these fields together, to the first of these combinations
// with which the plan can run:
//
//   - own directions of each device, with scalars of 4 bits;
//   - the same with scalars of 16 bits;
//   - groups that devices draw, if the roster is open or a round has many devices;
//   - directions that all devices share.
//
// The first two come last where a round has many devices.
//
// Fit returns one sentence that says what Fit changed, and why. If the plan can run already, or if
// no combination helps, Fit changes nothing and returns "". Package plancheck reports what a plan
// still lacks, such as a number for mu with secure=sum.
//
// Call Fit after [New], when you have set your own fields:
//
//	p, err := preset.New("zofl", "kitchen", 500)
//	...
//	p.Late = 2
//	note := preset.Fit(p)
func Fit(p *plan.Plan, set ...string) (note string) {
	fault := (*plan.Error)(nil)
	if p.Preset != "zofl" || !errors.As(valid.Plan(p), &fault) {
		return ""
	}
	free, given := mannerOf(p, set)
	cause := fmt.Sprintf("%s=%v", fault.Field, fault.Value)
	if slices.Contains(mannerFields, fault.Field) && len(given) > 0 {
		cause = strings.Join(given, " ") // name the author's fields, not the field that they contradict
	}
	fits := func(left error) bool { return left == nil }
	other := func(left error) bool { // the fault is another one than how devices share directions
		next := (*plan.Error)(nil)
		return errors.As(left, &next) && next.Remedy != fault.Remedy &&
			!slices.Contains(mannerFields, next.Field)
	}
	q := firstManner(p, free, fits)
	if q == nil && len(given) == 0 {
		q = firstManner(p, free, other)
	}
	if q == nil {
		return ""
	}
	changed := changedManner(p, q)
	*p = *q
	return fmt.Sprintf("%s does not go with how the preset zofl shares directions, so this "+
		"plan has %s.", cause, strings.Join(changed, " "))
}

// firstManner returns p with the free fields of the first manner with which the plan can run, or
// nil if no manner fits.
func firstManner(p *plan.Plan, free []uint64, do func(left error) bool) *plan.Plan {
	for _, m := range mannersFor(p) {
		q := *p
		if (&plan.Change{Fields: free, Values: m}).Apply(&q); do(valid.Plan(&q)) {
			return &q
		}
	}
	return nil
}

// mannerOf returns the numbers of the mannerFields that p has from the preset, and, as name=value,
// the mannerFields that the author has set.
func mannerOf(p *plan.Plan, set []string) (free []uint64, given []string) {
	for _, f := range plan.Fields() {
		switch {
		case !slices.Contains(mannerFields, f.Name):
		case slices.Contains(set, f.Name) || textOf(f, p) != textOf(f, &manners[0]):
			given = append(given, f.Name+"="+textOf(f, p))
		default:
			free = append(free, f.Number)
		}
	}
	return free, given
}

// changedManner returns the mannerFields in which q differs from p.
func changedManner(p, q *plan.Plan) (list []string) {
	for _, f := range plan.Fields() {
		if slices.Contains(mannerFields, f.Name) && textOf(f, p) != textOf(f, q) {
			list = append(list, f.Name+"="+textOf(f, q))
		}
	}
	return list
}

// textOf returns the value of one of the mannerFields, as in a plan file.
func textOf(f plan.Field, p *plan.Plan) string {
	switch v := f.At(p).(type) {
	case *uint8:
		return f.Choice(*v)
	default:
		return fmt.Sprint(*v.(*uint32))
	}
}
