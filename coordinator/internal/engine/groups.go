package engine

import (
	"github.com/zofl/zofl/coordinator/internal/gather"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/survey"
)

// With Plan.Sharing = GroupDirections the coordinator names whom an attempt asks, by group, and
// counts a contribution in its group. The policy decides which groups these are, unless devices
// draw them.

// named says whether the open round names the devices that it asks.
func (c *Core) named() bool {
	return c.policy.Groups != nil && c.round.survey == survey.None && c.policy.Groups.Names()
}

// heed shows the contributions of a round with groups to the policy that compares kinds of groups.
func (c *Core) heed() {
	if c.policy.Groups == nil {
		return
	}
	c.round.choice = report.Event{Kind: report.Surveyed, Contributors: c.chain.Taken,
		Survey: c.chain.Heed()}
}

// groupOf returns the group of a slot in the open round. On an open roster it returns the group
// that seat assigned.
func (c *Core) groupOf(slot uint32) (group uint32, ok bool) {
	id := ""
	if !c.cohort.roster.Open {
		id = c.cohort.roster.IDs[slot]
	}
	return c.policy.Groups.Of(c.N+1, slot, id)
}

// seat returns the slot under which a member's contribution is held.
func (c *Core) seat(m gather.Member) uint32 {
	if c.policy.Groups == nil {
		return m.Slot
	}
	return c.policy.Groups.Seat(c.N+1, m.Slot, m.ID)
}

// A standing shows the members to policies.
type standing struct{ *Core }

func (s standing) Members() uint32 { return uint32(s.cohort.roster.Stored) }

func (s standing) State(slot uint32) report.DeviceState {
	return s.cohort.crowd.Members[slot].State(s.now)
}

func (s standing) Contributed(slot uint32) bool {
	return s.cohort.contributed(gather.Member{Slot: slot})
}

// tail returns the bytes that follow an announcement. An open one names the groups of its attempt.
func (c *Core) tail(reference wire.Reference, m wire.Missing, named bool) []byte {
	attempts := c.round.attempts
	if len(attempts) == 0 || !c.named() || c.End != nil || c.halted() {
		return wire.Tail(reference, m, named)
	}
	return c.policy.Groups.Tail(reference, m, named, c.round.current().Named)
}
