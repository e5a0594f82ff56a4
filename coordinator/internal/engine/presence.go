package engine

import (
	"github.com/zofl/zofl/coordinator/internal/presence"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/wire"
)

// The methods in this file report what the cohort learns of members, and continue a round that
// waits for members.

// heard notes that a member sent something.
func (c *Core) heard(m presence.Device) {
	if c.cohort.Heard(m, c.now) {
		c.tellOf(report.Returned, m)
		c.returned()
	}
}

// tellOf emits an event about a member, with the number of members present after it.
func (c *Core) tellOf(kind report.EventKind, m presence.Device) {
	c.emitEvent(report.Event{Kind: kind, ID: m.ID, Members: c.cohort.Crowd.Present()})
}

// compare reports when a member's answers show that two devices send as this member.
func (c *Core) compare(m presence.Device, a presence.Answer) {
	if c.cohort.Same(m, a) {
		c.emitEvent(report.Event{Kind: report.SameID, ID: m.ID})
	}
}

// joinedAgain notes that a member joined again, which ends the member's absence.
func (c *Core) joinedAgain(m presence.Device, tells []byte) {
	c.heard(m)
	back, values := c.cohort.Rejoined(m, tells, c.now)
	if values != nil {
		c.emitEvent(report.Event{Kind: report.Reported, ID: m.ID, Values: values})
	}
	if back {
		c.returned()
	}
}

// tooLate notes a contribution that came after its record was closed.
func (c *Core) tooLate(m presence.Device, r *wire.Reply) {
	if r.Kind == wire.Contribution && c.cohort.Unused(m.Slot, r.N) {
		c.emitEvent(report.Event{Kind: report.Unused, ID: m.ID,
			Reason: c.cohort.Crowd.Members[m.Slot].WhyUnused()})
	}
}

// rests reports that a member steps out because it keeps declining.
func (c *Core) rests(m presence.Device, r *wire.Reply, current bool) {
	if out := c.cohort.Rest(m, r, current, c.now); out > 0 {
		c.emitEvent(report.Event{Kind: report.SteppedOut, ID: m.ID,
			Members: c.cohort.Crowd.Present(), Seconds: float64(out) / 1000,
			Reason: r.Reason.String()})
	}
}

// goodbye handles that a member leaves.
func (c *Core) goodbye(m presence.Device) {
	c.counters.Goodbyes++
	if c.cohort.Left(m, c.now) {
		c.tellOf(report.Left, m)
		c.excuse(m)
	}
}

// excuse makes the current attempt stop waiting for a member.
func (c *Core) excuse(m presence.Device) {
	if c.phase() == collecting && c.cohort.Excuse(m) {
		c.answered(true)
	}
}

// missed reports the members that count as lost because the current attempt waited for them in
// vain.
func (c *Core) missed() {
	if c.hopeless() {
		return
	}
	for _, slot := range c.cohort.Missed(c.now >= c.round.closes) {
		if c.cohort.Lose(slot, c.now) {
			c.tellOf(report.Lost, presence.Device{Slot: slot, ID: c.cohort.Roster.IDs[slot]})
		}
	}
}

// pauseOf returns the pause before attempt tries+1 of a record, in milliseconds. The pause doubles
// with each try, up to most, and differs from record to record.
func (c *Core) pauseOf(tries uint32, most uint64) uint64 {
	bound := min(uint64(250)<<min(tries, 16), max(most, 1))
	draw := prng.Philox([4]uint32{uint32(c.N), c.cohort.Attempt.Number, 0, 0},
		prng.Key(c.life.epoch))[0]
	return bound - bound/2*uint64(draw)>>32
}

// endAll says of the devices for which rounds waited that their run has ended: nobody waits for
// them, nor hears of them.
func endAll(list []report.Device) {
	for i := range list {
		if s := &list[i].State; *s == report.DevicePresent || *s == report.DeviceAway {
			*s = report.DeviceEnded
		}
	}
}

// Devices returns the members by slot, without times, and separately their times. An open roster
// has no members.
func (c *Core) Devices(now uint64) (list []report.Device, times []presence.Times) {
	list, times = c.cohort.Crowd.Devices(c.cohort.Roster.IDs, c.N, max(c.now, now))
	if c.End != nil {
		endAll(list)
	}
	for slot := range list {
		d := &list[slot]
		m := presence.Device{Slot: d.Slot, ID: d.ID}
		d.Awaited = c.phase() == collecting && c.cohort.Waits(m, c.cohort.Asks(m))
	}
	if c.chain.Bounded() {
		c.addConduct(list)
	}
	return list, times
}
