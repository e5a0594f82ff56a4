package engine

import (
	"math"

	"github.com/zofl/zofl/coordinator/internal/engine/walk/testdata/frozen/gather"
	"github.com/zofl/zofl/coordinator/internal/engine/walk/testdata/frozen/grouping"
	"github.com/zofl/zofl/coordinator/report"
	wiregroups "github.com/zofl/zofl/internal/grouping"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/survey"
)

// With Plan.Sharing = GroupDirections the coordinator names whom an attempt asks, by group, and
// counts a contribution in its group. Package grouping decides which groups these are, unless
// devices draw them.

// groupTransport: a record has a term for each group of which anybody contributed, ascending.
type groupTransport struct{ relayTransport }

func (groupTransport) fill(c *Core, body *wire.Round) {
	if c.Plan.Classes > 0 {
		body.Terms = c.classed.Terms(&c.Plan, c.groups)
		return
	}
	groups := c.held.ByGroup(c.groupOf, wiregroups.Count(&c.Plan))
	if c.Plan.RelaysWeights() {
		body.Weights = gather.GroupWeights(groups)
	}
	for g := range groups {
		groups[g].Weigh(c.groups.Weights)
	}
	body.Terms = gather.GroupTerms(groups, c.aggregator, c.Plan.TermPrecision())
	why := c.groups.Heed(&c.Plan, c.held.Rows(), c.held.Weights())
	c.round.choice = report.Event{Kind: report.Surveyed, Contributors: c.sum.Count,
		Survey: survey.Result{Kind: wiregroups.Choice, Answers: c.sum.Count, Why: why}}
}

// groupOf returns the group of a slot in the open round; of an open roster, of what seat put there.
func (c *Core) groupOf(slot uint32) (group uint32, ok bool) {
	switch {
	case wiregroups.Names(&c.Plan):
		return c.groups.Of(slot)
	case c.roster.Open:
		return slot, true
	}
	return wiregroups.Drawn(&c.Plan, c.N+1, c.roster.IDs[slot]), true
}

// seat returns a member with its group in place of the slot that devices of an open roster do not
// have, if the open round has groups.
func (c *Core) seat(m gather.Member) gather.Member {
	if c.roster.Open && wiregroups.Draws(&c.Plan) {
		m.Slot = wiregroups.Drawn(&c.Plan, c.N+1, m.ID)
	}
	return m
}

// lacksSketches says whether to ask for sketches before the next round. They are in memory alone:
// they steer who shares directions, and nothing that a record says.
func (c *Core) lacksSketches() bool {
	if c.Plan.Groups != wiregroups.Sketch {
		return false
	}
	c.crowd.Sweep(c.now)
	return c.groups.Lacks(standing{c})
}

// takeSketches goes on with the round that waited for sketches.
func (c *Core) takeSketches() {
	r, p := &c.round, &c.Plan
	c.held.Sort()
	why := c.groups.Learn(p, c.Rounds+1, grouping.Answers{Slots: c.held.Slots(),
		Rows: c.held.Rows(), Weights: c.held.Weights()}, standing{c})
	c.phase, r.open = idle, false
	c.emitEvent(report.Event{Kind: report.Surveyed, Attempt: r.attempt, Contributors: c.sum.Count,
		Seconds: float64(c.now-r.opened) / 1000,
		Survey:  survey.Result{Kind: survey.Sketch.String(), Answers: c.sum.Count, Why: why}})
	c.proceed()
}

// target returns how many contributions close the open round. A survey for sketches waits for all.
func (c *Core) target() uint32 {
	if c.round.survey == survey.Sketch {
		return math.MaxUint32
	}
	return c.Plan.Target
}

// choose decides whom an attempt asks. A survey for sketches asks everybody, and so does a run with
// roots, without which no round closes: a cohort always has them.
func (c *Core) choose(number uint32) grouping.Attempt {
	a := grouping.Attempt{Number: number, Cohort: c.cohort(number),
		Draw: c.Plan.Draw(c.N+1, c.Point.N)}
	if c.round.survey == survey.Sketch || c.guard.Rooted() {
		a.Cohort.Sampled = uint64(a.Cohort.Members)
	}
	if wiregroups.Names(&c.Plan) && c.round.survey == survey.None {
		a.Groups = c.groups.Choose(&c.Plan, c.Rounds+1, number, standing{c})
		a.Cohort.Sampled = uint64(a.Groups.Count())
	}
	return a
}

// A standing shows the members to package grouping.
type standing struct{ *Core }

func (s standing) Members() uint32 { return uint32(s.roster.Stored) }

func (s standing) Standing(slot uint32) grouping.Standing {
	return grouping.StandingOf(s.crowd.Members[slot].State(s.now))
}

func (s standing) Contributed(slot uint32) bool {
	return s.answers.Of(gather.Member{Slot: slot})&gather.Contributed != 0
}

// tail returns what follows an announcement. An open one names the groups of its attempt.
func (c *Core) tail(reference wire.Reference, m wire.Missing, named bool) []byte {
	attempts := c.round.attempts
	if !wiregroups.Names(&c.Plan) || c.round.survey != survey.None || c.End != nil || c.halted() ||
		len(attempts) == 0 {
		return wire.Tail(reference, m, named)
	}
	return wiregroups.Tail(reference, m, named, attempts[len(attempts)-1].Groups)
}
