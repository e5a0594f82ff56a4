package book

import (
	"fmt"
	"slices"

	"github.com/zofl/zofl/internal/grouping"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/survey"
)

// groupOf returns for which directions a contribution says that the device made it: 0 for
// directions of the device or of all devices, otherwise 1 + the group's index.
func groupOf(p *plan.Plan, r *wire.Reply, id string) int {
	if p.Sharing != plan.GroupDirections || r.Kind != wire.Contribution ||
		survey.Answered(r.Rest) != survey.None {
		return 0
	}
	if grouping.Draws(p) {
		return int(grouping.Drawn(p, r.N, id)) + 1
	}
	group, ok := grouping.OfReply(r)
	if !ok {
		return -1
	}
	return int(group) + 1
}

// grouped returns the contributions that a round's terms count. For each group these are the
// contributions along the group's directions, with each device once.
func (b *Book) grouped(r *wire.Record, plan *plan.Plan) (counted []answer, err error) {
	s, last := b.scenario, uint32(prng.Shared)
	b.world.Count("groups")
	if plan.Groups == grouping.Auto {
		b.world.Count("groups as devices are")
	}
	if grouping.Draws(plan) {
		b.world.Count("groups that devices draw")
	}
	for i := range r.Round.Terms {
		t := &r.Round.Terms[i]
		if t.Back > 0 || t.Source <= last || t.Source > grouping.Count(plan) {
			return nil, fmt.Errorf("term %d is of record %d, source %d after %d, of %d groups",
				i, r.N-t.Back, t.Source, last, grouping.Count(plan))
		}
		last = t.Source
		one := s.AnyMean
		if plan.Groups == grouping.Sketch {
			one = b.weighted(r, int(t.Source))
			b.world.Count("groups by sketch")
		}
		found, err := b.term(r, plan, t, one)
		if err != nil {
			return nil, err
		}
		if len(found) > 1 {
			b.world.Count("groups of some")
		}
		if err := b.weigh(r.Round, plan, i, found); err != nil {
			return nil, err
		}
		for _, d := range found {
			a := b.answerTo(d, r.N)
			twice := slices.ContainsFunc(counted,
				func(c answer) bool { return c.device == a.device })
			if twice && plan.Groups != grouping.Sketch {
				return nil, fmt.Errorf("it counts %s in two groups", a.device)
			}
			a.group = int(t.Source)
			counted = append(counted, a)
		}
	}
	if plan.Groups == grouping.Sketch {
		// Only the coordinator knows the weights of the groups. The book knows whose contributions
		// arrived, but not which contributions the coordinator counted.
		if int(r.Round.Contributors) > len(counted) || r.Round.Contributors > plan.Target {
			return nil, fmt.Errorf("it says that it counts %d contributions of %d, and its target is %d",
				r.Round.Contributors, len(counted), plan.Target)
		}
		return counted, nil
	}
	if len(counted) != int(r.Round.Contributors) || len(counted) > int(plan.Target) {
		return nil, fmt.Errorf("it counts %d contributions, says %d, and its target is %d",
			len(counted), r.Round.Contributors, plan.Target)
	}
	return counted, nil
}

// weighted returns a check that a scalar of a group is a mean of the slopes of some devices, whose
// contributions along the group's directions reached the author of record r. The check returns
// these devices.
func (b *Book) weighted(r *wire.Record, group int) func(v float64) ([]int, bool) {
	var came []int
	for d := range b.scenario.Devices {
		a := b.answerTo(d, r.N)
		if a.group = group; b.made[a][r.Epoch] {
			came = append(came, d)
		}
	}
	return func(v float64) ([]int, bool) {
		if len(came) == 0 {
			return nil, false
		}
		least := b.scenario.Slope(came[0])
		most := b.scenario.Slope(came[len(came)-1])
		return came, v >= least*(1-1e-6) && v <= most*(1+1e-6)
	}
}

// weigh checks the weight of a term of a group, whose contributors are known but with sketches.
func (b *Book) weigh(r *wire.Round, p *plan.Plan, term int, found []int) error {
	if p.Weights == plan.Equal || p.Groups == grouping.Sketch {
		return nil
	}
	sum := uint32(0)
	for _, d := range found {
		sum += b.scenario.Weights[d]
	}
	if b.world.Count("groups that weigh"); r.Weights[term] != sum {
		return fmt.Errorf("weights %d, those of group %d come to %d", r.Weights,
			r.Terms[term].Source, sum)
	}
	return nil
}
