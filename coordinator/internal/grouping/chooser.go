package grouping

import (
	"fmt"
	"iter"
	"slices"

	"github.com/zofl/zofl/coordinator/report"
	wiregroups "github.com/zofl/zofl/internal/grouping"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/survey"
)

// mostDevices bounds the devices that an attempt asks, because the announcement names them.
const mostDevices = wiregroups.MaxDevices

// A Standing is the coordinator's view of a member.
type Standing uint8

const (
	Present Standing = iota
	Silent           // it let rounds wait in vain: it may be back, and says so only if it is asked
	Absent           // away for a while, or gone: it may be present, or back
	Gone             // it was retired: it is not asked
)

// StandingOf returns the standing of a device in a state.
func StandingOf(s report.DeviceState) Standing {
	switch s {
	case report.DevicePresent:
		return Present
	case report.DeviceSilent:
		return Silent
	case report.DeviceRetired:
		return Gone
	}
	return Absent
}

// A Crowd is the set of a run's members.
type Crowd interface {
	// Members returns the number of members; their slots are below that number.
	Members() uint32
	// Standing returns the standing of a member.
	Standing(slot uint32) Standing
	// Contributed says whether a member has contributed to the open round.
	Contributed(slot uint32) bool
}

// A Chooser chooses the groups of the rounds of a run.
//
// Invariants:
//  1. A member that the open round has asked keeps its group in of until the next round. The
//     member's contribution counts in that group, whichever attempt the member answers.
//  2. Every group number of the open round is below groups.
type Chooser struct {
	began  *uint64           // the epoch of record 1
	of     map[uint32]uint32 // group by slot, of whom the open round has asked
	groups uint32
	all    bool // see [Chooser.All]

	sketches *sketches  // nil: none, groups are random
	parts    [][]uint32 // with sketches: all members that were present in period, by group
	period   uint64

	contrast contrast // with groups=auto
}

// New returns a chooser without an open round. began points to the epoch of the log's record 1, so
// that all coordinators of a run draw the same groups from the same present members.
func New(began *uint64) *Chooser { return &Chooser{began: began, of: map[uint32]uint32{}} }

// Counts says whether a contribution to a round is along the directions of its device's group.
// Counts returns true for the answer to a survey, and without groups, because other code checks
// these replies.
func (c *Chooser) Counts(slot uint32, r *wire.Reply) bool {
	if c == nil || survey.Answered(r.Rest) != survey.None {
		return true
	}
	made, says := wiregroups.OfReply(r)
	group, asked := c.of[slot]
	return says && asked && made == group
}

// Of returns the group of a member in the open round; ok is false if the round has not asked the
// member.
func (c *Chooser) Of(slot uint32) (group uint32, ok bool) {
	group, ok = c.of[slot]
	return group, ok
}

// Choose returns the devices that an attempt at a round asks. The first attempt, 0, begins the
// round.
//
// Attempt 0 asks for as many devices as the round lacks, and each later attempt asks for twice as
// many as the attempt before. Choose takes first the present members that the round has not asked,
// then present members that have not answered, then other members. Choose does not ask a member
// again that has contributed. Groups have equal sizes if possible. There are no more groups than
// the present members fill.
//
// With sketches, the first attempt asks the present members of the period's next groups. If these
// groups have too few present members, the attempt asks others too.
//
// The first attempt also asks a silent member, for which the round does not wait: otherwise a
// silent member that is back would get no message to answer.
func (c *Chooser) Choose(p *plan.Plan, round uint64, attempt uint32, crowd Crowd) Groups {
	if attempt == 0 {
		clear(c.of)
		c.groups = 0
	}
	d := deal{chooser: c, crowd: crowd, sizes: make([]uint32, wiregroups.Count(p))}
	have := d.contributed()
	lacks := p.Sampled(plan.MaxMembers) - min(have, p.Sampled(plan.MaxMembers))
	wants := int(min(uint64(lacks)<<min(attempt, 8), mostDevices))
	if attempt == 0 && c.sketches != nil {
		have += d.parts(c.partsOf(p, round, crowd))
		wants -= min(int(have), wants)
	}
	candidates, present := d.candidates(c.order(p, round, crowd.Members()), wants)
	c.all = present < wants
	size := c.size(p)
	filled := (have + uint32(present) + size - 1) / size
	c.groups = min(max(c.groups, filled, 1), wiregroups.Count(p))
	if attempt == 0 && !c.all && d.named.Count()+len(candidates) < mostDevices {
		candidates = d.addSilent(candidates, c.order(p, round, crowd.Members()))
	}
	return d.among(candidates)
}

// addSilent adds the first silent member of members to candidates, if there is a silent member.
func (d *deal) addSilent(candidates []uint32, members iter.Seq[uint32]) []uint32 {
	for slot := range members {
		if d.crowd.Standing(slot) == Silent {
			return append(candidates, slot)
		}
	}
	return candidates
}

// All says whether the last attempt asks every present member that has not answered. Without groups
// All returns false.
func (c *Chooser) All() bool { return c != nil && c.all }

// parts asks the present members of some groups, and returns how many members it asks.
func (d *deal) parts(groups [][]uint32) (asked uint32) {
	for _, slots := range groups {
		var there []uint32
		for _, slot := range slots {
			if d.crowd.Standing(slot) == Present {
				there = append(there, slot)
				d.chooser.of[slot] = d.chooser.groups
			}
		}
		if slices.Sort(there); len(there) > 0 {
			d.named = append(d.named, there)
			d.sizes[d.chooser.groups] += uint32(len(there))
			d.chooser.groups++
		}
		asked += uint32(len(there))
	}
	return asked
}

// partsOf returns the groups of a round. These groups are part of the groups into which the chooser
// splits the present members for Plan.Regroup rounds.
func (c *Chooser) partsOf(p *plan.Plan, round uint64, crowd Crowd) [][]uint32 {
	period, at := (round-1)/uint64(p.Regroup), (round-1)%uint64(p.Regroup)
	if c.parts == nil || c.period != period {
		var present []uint32
		for slot := range crowd.Members() {
			if crowd.Standing(slot) == Present {
				present = append(present, slot)
			}
		}
		d := dice{key: prng.Key(*c.began<<32 ^ period)}
		c.period, c.parts = period, c.sketches.split(present, int(p.GroupSize), &d)
	}
	var groups [][]uint32
	for k := range min(uint64(wiregroups.Count(p)), uint64(len(c.parts))) {
		next := at%uint64(len(c.parts))*uint64(wiregroups.Count(p)) + k
		groups = append(groups, c.parts[next%uint64(len(c.parts))])
	}
	return groups
}

// Answers are the sketches of members: the slot, the sketch and the weight of each member.
type Answers struct {
	Slots   []uint32
	Rows    [][]float32
	Weights []uint32
}

// Learn takes the sketches of members, and returns a text about the members' groups from a round
// on. A present member that sent no sketch counts as average until the next sketches.
func (c *Chooser) Learn(p *plan.Plan, round uint64, a Answers, crowd Crowd) string {
	asked := map[uint32]bool{}
	for slot := range crowd.Members() {
		if crowd.Standing(slot) == Present {
			asked[slot] = true
		}
	}
	c.sketches, c.parts = newSketches(a, asked), nil
	return fmt.Sprintf("groups of %d leave %.2g of the squared differences that random ones leave",
		p.GroupSize, c.Spread(p, round, crowd))
}

// Lacks says whether the coordinator should ask the members for sketches: because there are none,
// or because more than a quarter of the present members came after the sketches were made. Sketches
// of different states cannot be compared, so the coordinator asks all members again.
func (c *Chooser) Lacks(crowd Crowd) bool {
	if c.sketches == nil {
		return true
	}
	present, fresh := 0, 0
	for slot := range crowd.Members() {
		if crowd.Standing(slot) != Present {
			continue
		}
		if present++; c.sketches.of[slot] == nil && !c.sketches.asked[slot] {
			fresh++
		}
	}
	return 4*fresh > present
}

// Weights returns the weights of a group's members in the group's mean, from the weights that the
// members claim. A result of nil leaves the claimed weights unchanged.
func (c *Chooser) Weights(slots, claimed []uint32) []uint32 {
	if c.sketches == nil || len(slots) == 0 {
		return nil
	}
	return c.sketches.weights(slots, claimed)
}

// Shares returns the share of each class in the members' samples, with equal weight for each
// member, if sketches are shares of classes. Otherwise it returns nil.
func (c *Chooser) Shares(classes int) []float64 {
	if c.sketches == nil || c.sketches.mean == nil {
		return nil
	}
	shares := make([]float64, classes)
	for class := range shares {
		shares[class] = min(max(c.sketches.mean[class], 0), 1)
	}
	return shares
}

// Spread returns how much of the members' squared differences remains in the sums of the present
// period's groups. The result is a share, which is 1 on average for random groups.
func (c *Chooser) Spread(p *plan.Plan, round uint64, crowd Crowd) float64 {
	c.partsOf(p, round, crowd)
	members := 0
	for _, slots := range c.parts {
		members += len(slots)
	}
	if all := c.sketches.square * float64(members); all > 0 {
		return max(c.sketches.cost(c.parts)/all, 0) // rounding may leave less than nothing
	}
	return 0
}

// A deal assigns candidates to the groups of an attempt.
type deal struct {
	chooser *Chooser
	crowd   Crowd
	sizes   []uint32 // by group: contributors, and whom the attempt asks
	named   Groups   // whom the attempt asks already
}

// contributed counts the contributors, in each group and in all.
func (d *deal) contributed() (all uint32) {
	for slot, group := range d.chooser.of {
		if d.crowd.Contributed(slot) && int(group) < len(d.sizes) {
			d.sizes[group]++
			all++
		}
	}
	return all
}

// candidates returns at most wants members, in the order in which the attempt prefers them, and how
// many of the returned members are present.
func (d *deal) candidates(members iter.Seq[uint32], wants int) (
	list []uint32, present int) {
	var asked, absent []uint32
	for slot := range members {
		if len(list) == wants {
			break
		}
		_, again := d.chooser.of[slot]
		switch standing := d.crowd.Standing(slot); {
		case standing == Gone || again && (d.crowd.Contributed(slot) || d.named.Has(slot)):
		case standing != Present:
			absent = append(absent, slot)
		case again:
			asked = append(asked, slot)
		default:
			list = append(list, slot)
		}
	}
	list = append(list, asked...)
	present = min(len(list), wants)
	list = append(list, absent...)
	return list[:min(len(list), wants)], present
}

// among puts each candidate into the group that it already has, or else into the smallest group.
func (d *deal) among(candidates []uint32) Groups {
	groups := append(d.named, make(Groups, d.chooser.groups-uint32(len(d.named)))...)
	for _, slot := range candidates {
		group, again := d.chooser.of[slot]
		if !again {
			group = d.smallest()
			d.chooser.of[slot] = group
		}
		d.sizes[group]++
		groups[group] = append(groups[group], slot)
	}
	for _, slots := range groups {
		slices.Sort(slots)
	}
	return groups
}

// smallest returns the first group among the smallest groups.
func (d *deal) smallest() uint32 {
	sizes := d.sizes[:d.chooser.groups]
	return uint32(slices.Index(sizes, slices.Min(sizes)))
}

// order returns the members in the order in which a round asks them. The order is random, and stays
// the same for Plan.Regroup rounds. If all members are present, each round begins in that order
// where the round before ended.
func (c *Chooser) order(p *plan.Plan, round uint64, members uint32) iter.Seq[uint32] {
	period, at := (round-1)/uint64(p.Regroup), (round-1)%uint64(p.Regroup)
	all := wire.Cohort{Sampled: uint64(members), Members: members}
	skip := at * uint64(p.Sampled(plan.MaxMembers)) % uint64(max(members, 1))
	return func(yield func(uint32) bool) {
		at := uint64(0)
		for slot := range all.Slots(p.Run, period, uint32(*c.began)) {
			if at >= skip && !yield(slot) {
				return
			}
			at++
		}
		for slot := range all.Slots(p.Run, period, uint32(*c.began)) {
			if skip == 0 || !yield(slot) {
				return
			}
			skip--
		}
	}
}
