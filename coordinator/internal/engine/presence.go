package engine

import (
	"iter"
	"slices"

	"github.com/zofl/zofl/coordinator/internal/gather"
	"github.com/zofl/zofl/coordinator/internal/presence"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/deviceinfo"
)

// Who takes part in a listed roster. Presence decides how many devices an attempt asks and for whom
// it waits, and nothing else. The cohort stays a uniform choice of the roster, which anybody can
// recompute: every present device is in it with the same probability.

// heard notes that a member sent something.
func (c *Core) heard(m gather.Member) {
	if c.cohort.roster.Open {
		return
	}
	p := &c.cohort.crowd.Members[m.Slot]
	was, lost := p.State(c.now), p.Lost
	p.Heard(c.now)
	if lost || was == report.DeviceLeft || was == report.DeviceSilent {
		c.cohort.crowd.Place(m.Slot, c.now)
		c.emitEvent(report.Event{Kind: report.Returned, ID: m.ID, Members: c.cohort.crowd.Present()})
		c.returned()
	}
}

// same reports when a member's answers show that two devices send as this member.
func (c *Core) same(m gather.Member, a presence.Answer, timely bool) {
	if timely && !c.cohort.roster.Open && c.cohort.crowd.Compare(m.Slot, a) {
		c.emitEvent(report.Event{Kind: report.SameID, ID: m.ID})
	}
}

// joinedAgain notes that a member joined again, which ends its absence. It also notes what the
// member says about itself, if anything.
func (c *Core) joinedAgain(m gather.Member, tells []byte) {
	c.heard(m)
	p := &c.cohort.crowd.Members[m.Slot]
	p.About = nil
	if len(tells) > 0 {
		if told, ok := deviceinfo.Of(tells); ok {
			p.About = &told
		}
	}
	if p.Until > c.now {
		p.Until = 0
		c.cohort.crowd.Place(m.Slot, c.now)
		c.returned()
	}
}

// contributed notes a member's contribution to record n, and how long it took.
func (c *Core) contributed(m gather.Member, n uint64, current bool) {
	if c.cohort.roster.Open {
		return
	}
	p := &c.cohort.crowd.Members[m.Slot]
	p.Record = max(p.Record, n)
	c.cohort.crowd.Used(m.Slot, presence.TooLate)
	if p.InARow, p.Until = 0, 0; p.Absent() {
		c.cohort.crowd.Place(m.Slot, c.now)
	}
	c.time(p, current)
}

// tooLate notes a contribution that came when its record was closed.
func (c *Core) tooLate(m gather.Member, r *wire.Reply) {
	if r.Kind == wire.Contribution {
		c.unused(m.Slot, r.N, presence.TooLate)
	}
}

// unused reports now and then that a member's work counts for little or nothing.
func (c *Core) unused(slot uint32, n uint64, fate presence.Fate) {
	if !c.cohort.roster.Open && c.cohort.crowd.Unused(slot, n, fate) {
		c.emitEvent(report.Event{Kind: report.Unused, ID: c.cohort.roster.IDs[slot],
			Reason: c.cohort.crowd.Members[slot].WhyUnused()})
	}
}

// judged notes whether a contribution to the record that is being made was cut, or lost weight.
func (c *Core) judged(slot uint32, factor, lost float64) {
	if c.cohort.roster.Open {
		return
	}
	switch {
	case lost > 0.5:
		c.unused(slot, c.N+1, presence.Doubted)
	case factor < 1:
		c.unused(slot, c.N+1, presence.Cut)
	default:
		c.cohort.crowd.Used(slot, presence.Doubted)
		c.cohort.crowd.Used(slot, presence.Cut)
	}
}

// time smooths the latency of an answer to the current attempt.
func (c *Core) time(p *presence.Member, current bool) {
	if current {
		p.Took(float64(c.now - c.round.asked))
	}
}

// declined notes a member's decline. A member that keeps declining takes a break: for as long as it
// says, or else for a time that doubles.
func (c *Core) declined(m gather.Member, r *wire.Reply, current bool) {
	if c.cohort.roster.Open {
		return
	}
	p := &c.cohort.crowd.Members[m.Slot]
	c.time(p, current)
	out := p.Decline(c.Plan.Deadline)
	if a, ok := r.Away(); ok {
		out = a.Milliseconds
	}
	if out == 0 {
		return
	}
	was := p.State(c.now)
	p.Until = c.now + out
	c.cohort.crowd.Place(m.Slot, c.now)
	if was == report.DevicePresent {
		c.emitEvent(report.Event{Kind: report.SteppedOut, ID: m.ID, Members: c.cohort.crowd.Present(),
			Seconds: float64(out) / 1000, Reason: r.Reason.String()})
	}
}

// goodbye handles that a member leaves. It keeps its slot.
func (c *Core) goodbye(m gather.Member) {
	c.counters.Goodbyes++
	if c.cohort.roster.Open {
		delete(c.cohort.roster.Waiting, m.ID)
		return
	}
	p := &c.cohort.crowd.Members[m.Slot]
	if p.Left || p.Retired {
		return
	}
	p.Left, p.Seen = true, c.now
	c.cohort.crowd.Place(m.Slot, c.now)
	c.emitEvent(report.Event{Kind: report.Left, ID: m.ID, Members: c.cohort.crowd.Present()})
	c.excuse(m)
}

// excuse makes the current attempt wait no longer for a member.
func (c *Core) excuse(m gather.Member) {
	p, r := &c.cohort.crowd.Members[m.Slot], &c.round
	if c.phase() != collecting || p.Excused == r.serial || c.cohort.answers.Of(m) != 0 ||
		!c.asked(r.current(), m) {
		return
	}
	p.Excused = r.serial
	c.answered(true)
}

// awaited counts the devices for which the new attempt waits, and excuses the absent ones.
func (c *Core) awaited() uint32 {
	r := &c.round
	current, waits := r.current(), uint32(r.cohort.Sampled)
	for _, slot := range c.cohort.answers.Given {
		if c.asked(current, gather.Member{Slot: slot}) {
			waits--
		}
	}
	if len(c.cohort.crowd.Absent()) == 0 {
		return waits
	}
	for slot := range c.slotsAsked() {
		p := &c.cohort.crowd.Members[slot]
		if p.Absent() && c.cohort.answers.Of(gather.Member{Slot: slot}) == 0 {
			p.Excused = r.serial
			waits--
		}
	}
	return waits
}

// slotsAsked returns the slots that the current attempt asks.
func (c *Core) slotsAsked() iter.Seq[uint32] {
	a := c.round.current()
	if a.Named != nil {
		return a.Named.Slots()
	}
	return a.Cohort.Slots(c.Plan.Run, a.Draw, a.Number)
}

// waitsFor says whether the current attempt still waits for a member; asked says whether it asks
// that member.
func (c *Core) waitsFor(m gather.Member, asked bool) bool {
	return asked && !c.cohort.roster.Open && c.cohort.answers.Of(m) == 0 &&
		c.cohort.crowd.Members[m.Slot].Excused != c.round.serial &&
		!(c.stepping() && !c.policy.Steps.Waits(m.Slot))
}

// awaits is waitsFor for any member, whether the attempt asks it or not.
func (c *Core) awaits(m gather.Member) bool {
	return c.phase() == collecting && c.waitsFor(m, c.asked(c.round.current(), m))
}

// missing returns the slots for which the current attempt waits, ascending, and as many slots of
// silent devices as fit. A device that is not named concludes that its reply arrived, but the reply
// of a silent device may be lost. ok is false if it waits for more than can be named.
func (c *Core) missing() (m wire.Missing, ok bool) {
	if c.cohort.roster.Open || c.phase() != collecting || c.round.pending > wire.MaxMissing {
		return nil, false
	}
	var slots, silent []uint32
	for slot := range c.slotsAsked() {
		switch m := (gather.Member{Slot: slot}); {
		case c.waitsFor(m, true):
			slots = append(slots, slot)
		case c.cohort.answers.Of(m) == 0 && c.cohort.crowd.Members[slot].Misses == presence.SilentAfter:
			silent = append(silent, slot)
		}
	}
	slots = append(slots, silent[:min(len(silent), wire.MaxMissing-len(slots))]...)
	slices.Sort(slots)
	return wire.MissingOf(slots)
}

// missed notes the devices for which the current attempt waited in vain.
func (c *Core) missed() {
	if c.cohort.roster.Open || c.hopeless() {
		return
	}
	var lost []uint32
	for slot := range c.slotsAsked() {
		p := &c.cohort.crowd.Members[slot]
		if !c.waitsFor(gather.Member{Slot: slot}, true) || p.Misses == presence.SilentAfter {
			continue
		}
		if c.now >= c.round.closes || !p.Doubtful() {
			c.cohort.crowd.Stalled(slot)
		}
		if p.Misses++; p.Misses == presence.SilentAfter {
			lost = append(lost, slot)
		}
	}
	slices.Sort(lost)
	for _, slot := range lost {
		c.cohort.crowd.Place(slot, c.now)
		if p := &c.cohort.crowd.Members[slot]; !p.Lost { // a pardoned one is lost again, which is no news
			p.Lost = true
			c.emitEvent(report.Event{Kind: report.Lost, ID: c.cohort.roster.IDs[slot],
				Members: c.cohort.crowd.Present()})
		}
	}
}

// pauseOf returns the pause before attempt tries+1 of a record, in milliseconds: it doubles with
// each try, up to most, and differs from record to record.
func (c *Core) pauseOf(tries uint32, most uint64) uint64 {
	bound := min(uint64(250)<<min(tries, 16), max(most, 1))
	draw := prng.Philox([4]uint32{uint32(c.N), c.round.attempt, 0, 0}, prng.Key(c.epoch))[0]
	return bound - bound/2*uint64(draw)>>32
}

// Devices returns the members by slot, without times, and their times. There are none on an open
// roster.
func (c *Core) Devices(now uint64) (list []report.Device, times []presence.Times) {
	list, times = c.cohort.crowd.Devices(c.cohort.roster.IDs, c.N, max(c.now, now))
	for slot := range list {
		d := &list[slot]
		d.Awaited = c.awaits(gather.Member{Slot: d.Slot, ID: d.ID})
		d.Cut, d.Doubt = c.chain.Member(d.Slot)
	}
	return list, times
}
