package policies

import (
	"github.com/zofl/zofl/coordinator/internal/aggregate"
	"github.com/zofl/zofl/coordinator/internal/grouping"
	"github.com/zofl/zofl/coordinator/internal/policy"
	wiregroups "github.com/zofl/zofl/internal/grouping"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/survey"
)

// groups are the groups of a plan: the coordinator chooses and names the groups, or devices draw
// them.
type groups struct {
	chooser *grouping.Chooser
	plan    *plan.Plan
}

func (g *groups) Names() bool { return wiregroups.Names(g.plan) }

func (g *groups) Choose(round uint64, attempt uint32, m policy.Members) policy.Named {
	return g.chooser.Choose(g.plan, round, attempt, standing{m})
}

func (g *groups) All() bool { return g.chooser.All() }

func (g *groups) Counts(slot uint32, rest []byte) bool {
	return g.chooser.Counts(slot, &wire.Reply{Kind: wire.Contribution, Rest: rest})
}

// Seat returns a group in place of the slot, because devices of an open roster have no slot.
func (g *groups) Seat(n uint64, slot uint32, id string) uint32 {
	if g.plan.Roster == plan.OpenRoster && wiregroups.Draws(g.plan) {
		return wiregroups.Drawn(g.plan, n, id)
	}
	return slot
}

func (g *groups) Of(n uint64, slot uint32, id string) (group uint32, ok bool) {
	switch {
	case wiregroups.Names(g.plan):
		return g.chooser.Of(slot)
	case g.plan.Roster == plan.OpenRoster:
		return slot, true // see Seat
	}
	return wiregroups.Drawn(g.plan, n, id), true
}

func (g *groups) Tail(reference wire.Reference, m wire.Missing, named bool,
	whom policy.Named) []byte {
	return wiregroups.Tail(reference, m, named, whom.(grouping.Groups))
}

// A choice is what the coordinator knows of the choice between own and shared directions.
type choice struct{ *grouping.Chooser }

func (c *choice) Kind() uint8 { return 2 }

func (c *choice) Append(b []byte, _ wire.RecordKind) []byte { return c.Chooser.Append(b) }

// A standing shows members to package grouping.
type standing struct{ members policy.Members }

func (s standing) Members() uint32 { return s.members.Members() }

func (s standing) Standing(slot uint32) grouping.Standing {
	return grouping.StandingOf(s.members.State(slot))
}

func (s standing) Contributed(slot uint32) bool { return s.members.Contributed(slot) }

// sketches is a survey that asks all members for sketches, to find groups of members with different
// data. The coordinator keeps sketches only in memory: they decide which devices share directions,
// and change no other part of a record.
type sketches groups

func (s *sketches) Due(_ uint64, m policy.Members) survey.Kind {
	if !lacksStats(s.plan) && s.chooser.Lacks(standing{m}) {
		return survey.Sketch
	}
	return survey.None
}

func (s *sketches) All() bool { return true }

func (s *sketches) Again([]uint32, uint32) *plan.Change { return nil }

func (s *sketches) Done(k survey.Kind, rounds uint64, answers *aggregate.Rows, m policy.Members,
) (found survey.Result, change *plan.Change, ok bool) {
	answers.Sort()
	found.Kind = k.String()
	found.Answers, _ = answers.Total()
	found.Why = s.chooser.Learn(s.plan, rounds+1, grouping.Answers{Slots: answers.Slots(),
		Rows: answers.Rows(), Weights: answers.Weights()}, standing{m})
	return found, nil, true
}
