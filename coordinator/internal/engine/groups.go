package engine

import (
	"github.com/zofl/zofl/coordinator/internal/presence"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/wire"
)

// With Plan.Sharing = GroupDirections the coordinator names the devices that an attempt asks, by
// group, and counts a contribution in its device's group. The policy decides which groups these
// are, unless devices draw their groups.

// heed passes the contributions of a round with groups to the policy that compares kinds of groups.
func (c *Core) heed() {
	if c.policy.Groups == nil {
		return
	}
	c.round.choice = report.Event{Kind: report.Surveyed, Contributors: c.chain.Taken,
		Survey: c.chain.Heed()}
}

// groupOf returns the group of a slot in the open round. On an open roster groupOf returns the
// group that seat assigned.
func (c *Core) groupOf(slot uint32) (group uint32, ok bool) {
	id := ""
	if !c.cohort.Roster.Open {
		id = c.cohort.Roster.IDs[slot]
	}
	return c.policy.Groups.Of(c.N+1, slot, id)
}

// seat returns the slot under which the chain holds a member's contribution.
func (c *Core) seat(m presence.Device) uint32 {
	if c.policy.Groups == nil {
		return m.Slot
	}
	return c.policy.Groups.Seat(c.N+1, m.Slot, m.ID)
}

// tail returns the bytes that follow an announcement. While a round is open, the tail names the
// groups of the attempt.
func (c *Core) tail(reference wire.Reference, m wire.Missing, named bool) []byte {
	asked := c.cohort.Attempt.Named
	if asked == nil || c.End != nil || c.halted() {
		return wire.Tail(reference, m, named)
	}
	return c.policy.Groups.Tail(reference, m, named, asked)
}
