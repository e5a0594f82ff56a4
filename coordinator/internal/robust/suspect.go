package robust

import (
	"fmt"
	"math/bits"

	"github.com/zofl/zofl/coordinator/internal/median"
	"github.com/zofl/zofl/plan"
)

const (
	// recent is the number of a member's last contributions that decide whether it is a suspect, and
	// least how many of them there must be. A run that diverges may look at fewer, but at early, and
	// all of them must be bad.
	recent, least, early = 16, 8, 3
	// far is how many times the usual length a contribution must have to be long. Honest devices
	// reach it in single rounds only, even with a label that no other device has.
	far = 4
	// near is the same for a suspect, whose contributions become shorter as its loss falls.
	near = 2
	// doubted is the share of its weight that a contribution must lose to count as contradiction.
	doubted = 0.5
	// mostSilence bounds the number of contributions between two reports of a suspect.
	mostSilence = 1 << 14
)

// A conduct holds how a member's last contributions compared with the others'. In each set the
// lowest bit is the last contribution.
//
// A rare label makes honest contributions far longer than the others' present ones: the others have
// learned what they can, and the bound keeps the run from learning the rest. But such contributions
// are not longer than those with which the run began. So a contribution is long only if it exceeds
// the usual length of the round and of all rounds before.
type conduct struct {
	long, over, against uint16
	seen                uint8 // of the last contributions, at most recent
	suspect             bool
	row, after          uint32 // contributions since it became a suspect; when to report it next
}

// watch notes the contributions of the round that closes, and says which members to report.
func (g *Bounds) watch() {
	g.reports = g.reports[:0]
	if g.plan.Bound == 0 || g.plan.Roster == plan.OpenRoster {
		return
	}
	lengths := make([]float64, len(g.held))
	for i := range g.held {
		lengths[i] = g.held[i].length
	}
	usual := length{median.Lower(lengths), g.own.scalars}
	now := usual.safe()
	g.usual.Add(usual.rms)
	g.longest = max(g.longest, g.usual.Value())
	ever, lately := far*max(now, g.longest), near*max(now, g.scale())
	for i := range g.held {
		k := &g.held[i]
		if g.vouched(k.Slot) {
			continue
		}
		s := g.slot(k.Slot)
		s.conduct.note(k.length > ever && ever > 0, k.length > lately && lately > 0,
			s.lost() > doubted)
		if s.conduct.judge() {
			g.reports = append(g.reports, k.Slot)
		}
	}
}

// note notes a contribution.
func (c *conduct) note(long, over, against bool) {
	c.seen = min(c.seen+1, recent)
	for _, of := range []struct {
		set *uint16
		is  bool
	}{{&c.long, long}, {&c.over, over}, {&c.against, against}} {
		if *of.set <<= 1; of.is {
			*of.set |= 1
		}
	}
}

// most says whether a set has most of the last contributions.
func (c *conduct) most(set uint16) bool { return 2*bits.OnesCount16(set) > int(c.seen) }

// judge decides whether the member is a suspect, and says whether to report it now: once, and later
// after twice as many contributions as before.
func (c *conduct) judge() (report bool) {
	was := c.suspect
	c.suspect = c.seen >= least &&
		(c.most(c.long) || c.most(c.against) || was && c.most(c.over))
	switch {
	case !c.suspect:
		c.row, c.after = 0, 0
		return false
	case !was:
		c.after = recent
		return true
	}
	if c.row++; c.row < c.after {
		return false
	}
	c.row, c.after = 0, min(2*c.after, mostSilence)
	return true
}

// always says whether the member's few contributions so far were all bad.
func (c *conduct) always() bool {
	all := uint16(1)<<c.seen - 1
	return c.seen >= early && c.seen < least && (c.long&all == all || c.against&all == all)
}

// words say what the member did.
func (c *conduct) words() string {
	set, did := c.over, fmt.Sprintf("were more than %d times as long as usual", near)
	switch {
	case c.most(c.long):
		set, did = c.long, fmt.Sprintf("were more than %d times as long as usual", far)
	case c.most(c.against):
		set, did = c.against, "contradicted the others, or repeated some"
	}
	return fmt.Sprintf("%d of its last %d contributions %s", bits.OnesCount16(set), c.seen, did)
}

// A Suspect is a member whose contributions were far longer than usual, or contradicted the others,
// in most of the last rounds in which it took part.
type Suspect struct {
	Slot uint32
	Did  string
}

// Suspects returns the suspects by slot. With soon, Suspects also returns members with only a few
// contributions, all of which were bad.
func (g *Bounds) Suspects(soon bool) (list []Suspect) {
	for slot := range g.slots {
		if c := &g.slots[slot].conduct; c.suspect || soon && c.always() {
			list = append(list, Suspect{uint32(slot), c.words()})
		}
	}
	return list
}

// Reports returns the members to report as suspects after the round that closed.
func (g *Bounds) Reports() []uint32 { return g.reports }

// Remembers says whether this coordinator has seen enough contributions of any member to judge it.
func (g *Bounds) Remembers() bool {
	for slot := range g.slots {
		if g.slots[slot].conduct.seen >= least {
			return true
		}
	}
	return false
}
