package engine

import (
	"fmt"
	"strings"

	"github.com/zofl/zofl/coordinator/internal/aggregate"
	"github.com/zofl/zofl/coordinator/internal/loss"
	"github.com/zofl/zofl/coordinator/internal/presence"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/plan"
)

// A few members whose contributions stand out are suspects, and an operator may retire them. If
// more than a third of the members stand out, nobody can tell who is wrong, and the core names the
// members without blame. An open roster has no slots: there nobody is a suspect.

const (
	// mostSuspects bounds how many suspects a status names.
	mostSuspects = 8
	// mostBlamed bounds how many suspects a pause names, because the reason of a pause is short.
	mostBlamed = 3
)

// suspects returns the members whose contributions stand out and who are not retired, and whether
// they are so few that they are suspects. With soon, suspects judges members by fewer rounds.
func (c *Core) suspects(soon bool) (list []aggregate.Suspect, few bool) {
	if c.Plan.Bound == 0 {
		return nil, true
	}
	for _, s := range c.chain.Suspects(soon) {
		if !c.cohort.Crowd.Members[s.Slot].Retired {
			list = append(list, s)
		}
	}
	return list, 3*len(list) <= c.cohort.Roster.Joined()
}

// suspected reports a member that is a suspect.
func (c *Core) suspected(slot uint32) {
	list, few := c.suspects(false)
	for _, s := range list {
		if s.Slot == slot && few {
			c.emitEvent(report.Event{Kind: report.Suspected, ID: c.cohort.Roster.IDs[slot],
				Reason: c.charge(s)})
		}
	}
}

// charge says what a suspect did, what that may mean, and the remedy.
func (c *Core) charge(s aggregate.Suspect) string {
	return fmt.Sprintf("%s: it lies, or its loss is unlike the others'; `zofl retire %s` removes it",
		s.Did, c.cohort.Roster.IDs[s.Slot])
}

// addSuspects adds to a status what robust bounds cut, and the suspects, or says that too many
// members stand out.
func (c *Core) addSuspects(out *report.Status) {
	out.Counters.Cut = c.chain.Cuts()
	list, few := c.suspects(false)
	switch {
	case !few:
		out.Disputed = c.disputed(list)
	case len(list) > 0:
		out.Suspects = map[string]string{}
		for _, s := range list[:min(len(list), mostSuspects)] {
			out.Suspects[c.cohort.Roster.IDs[s.Slot]] = c.charge(s)
		}
	}
}

// addConduct adds to members what robust bounds did to their contributions, and who is a suspect.
func (c *Core) addConduct(members []report.Device) {
	for slot := range members {
		d := &members[slot]
		d.Cut, d.Doubt = c.chain.Member(d.Slot)
	}
	if suspects, few := c.suspects(false); few {
		for _, s := range suspects {
			members[s.Slot].Suspect = c.charge(s)
		}
	}
}

// forgot says whether only its restart keeps this coordinator from judging members: it has seen too
// few of their contributions. Of a plan whose contributions nobody sees, and of an open roster, no
// coordinator judges anybody.
func (c *Core) forgot() bool {
	return c.life.restarted && c.Plan.Bound > 0 && !c.Plan.Summed() &&
		c.Plan.Roster != plan.OpenRoster && !c.chain.Remembers()
}

// disputed says that too many members stand out to suspect any.
func (c *Core) disputed(list []aggregate.Suspect) string {
	return fmt.Sprintf("the contributions of %d of %s stand out (%s), too many to tell who is wrong",
		len(list), presence.Count(uint32(c.cohort.Roster.Joined()), "device"), c.named(list))
}

// named lists the first of the members.
func (c *Core) named(list []aggregate.Suspect) string {
	var ids []string
	for _, s := range list[:min(len(list), mostBlamed)] {
		ids = append(ids, c.cohort.Roster.IDs[s.Slot])
	}
	text := strings.Join(ids, ", ")
	if more := len(list) - len(ids); more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// culprits says which devices may be the cause of a divergence, and the commands that remove them.
func (c *Core) culprits() (b loss.Blame) {
	switch list, few := c.suspects(true); {
	case !few:
		b.Seen = c.disputed(list)
	case len(list) > 0:
		for _, s := range list[:min(len(list), mostBlamed)] {
			b.Retire = append(b.Retire, c.cohort.Roster.IDs[s.Slot])
		}
		b.Seen = fmt.Sprintf("look at %s first, %s", c.named(list), list[0].Did)
		if left := uint32(c.cohort.Roster.Joined() - len(b.Retire)); left < c.Plan.Quorum {
			b.Quorum = left
		}
	case c.forgot():
		b.Seen = "this coordinator began too late to see whether one device is the cause"
	}
	return b
}
