package engine

import (
	"iter"
	"slices"

	"github.com/zofl/zofl/coordinator/internal/gather"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/wire"
)

// Who takes part in a listed roster. Presence steers how many devices an attempt asks and for whom
// it waits, and nothing else. The cohort stays a uniform choice of the roster, which anybody can
// recompute: every present device is in it with the same probability.

const (
	// silentAfter is how many deadlines in a row a device lets pass before no round waits for it.
	silentAfter = 3
	// stepOutAfter is how many declines in a row leave a device present.
	stepOutAfter = 1
	// stepOutFirst and stepOutMost bound how long a device is not waited for that keeps declining
	// and does not say for how long. Each decline doubles the time. It is at most stepOutDeadlines
	// of the plan, because rounds that are short are worth a try sooner.
	stepOutFirst     = 1000      // milliseconds
	stepOutMost      = 60 * 1000 // milliseconds
	stepOutDeadlines = 16
)

// A presence is what the coordinator has seen of a member.
//
// Invariant: at is the member's place in crowd.absent plus 1, 0 if it is present.
type presence struct {
	seen     uint64  // when it was last heard of; 0: not by this coordinator
	latency  float64 // milliseconds from an announcement to its answer, smoothed; 0: none yet
	declines uint32  // all of them
	inARow   uint8   // declines since its last contribution
	misses   uint8   // deadlines that it let pass since it was last heard of
	left     bool    // it said goodbye
	retired  bool
	until    uint64 // it stepped out until then
	at       int32
	excused  uint32 // the attempt, by its serial number, that does not wait for it
}

// A crowd is the presence of all members, by slot.
type crowd struct {
	members []presence
	absent  []uint32 // slots
}

// grow adds members. Those whom this coordinator has not heard of yet are given one deadline.
func (w *crowd) grow(members int, known bool) {
	p := presence{}
	if !known {
		p.misses = silentAfter - 1
	}
	for len(w.members) < members {
		w.members = append(w.members, p)
	}
}

// state says where a member is.
func (p *presence) state(now uint64) report.DeviceState {
	switch {
	case p.retired:
		return report.DeviceRetired
	case p.left:
		return report.DeviceLeft
	case p.misses >= silentAfter:
		return report.DeviceSilent
	case p.until > now:
		return report.DeviceAway
	}
	return report.DevicePresent
}

// place moves a member between the present and the absent.
func (w *crowd) place(slot uint32, now uint64) {
	p := &w.members[slot]
	switch absent := p.state(now) != report.DevicePresent; {
	case absent && p.at == 0:
		w.absent = append(w.absent, slot)
		p.at = int32(len(w.absent))
	case !absent && p.at > 0:
		last := w.absent[len(w.absent)-1]
		w.absent[p.at-1] = last
		w.members[last].at = p.at
		w.absent, p.at = w.absent[:len(w.absent)-1], 0
	}
}

// sweep notes that devices which stepped out are back.
func (w *crowd) sweep(now uint64) {
	for i := len(w.absent) - 1; i >= 0; i-- {
		w.place(w.absent[i], now)
	}
}

// present is how many members are believed to be present.
func (w *crowd) present() uint32 { return uint32(len(w.members) - len(w.absent)) }

// pardon lets a round wait once more for every silent member.
func (w *crowd) pardon(now uint64) {
	for i := len(w.absent) - 1; i >= 0; i-- {
		slot := w.absent[i]
		if p := &w.members[slot]; p.misses >= silentAfter {
			p.misses = silentAfter - 1
			w.place(slot, now)
		}
	}
}

// heard notes that a member sent something.
func (c *Core) heard(m gather.Member) {
	if c.roster.open {
		return
	}
	p := &c.crowd.members[m.Slot]
	was := p.state(c.now)
	p.seen, p.misses, p.left = c.now, 0, false
	if was == report.DeviceLeft || was == report.DeviceSilent {
		c.crowd.place(m.Slot, c.now)
		c.emitEvent(report.Event{Kind: report.Returned, ID: m.ID, Members: c.crowd.present()})
		c.returned()
	}
}

// joinedAgain notes that a member joined again, which also ends the time that it stepped out.
func (c *Core) joinedAgain(m gather.Member) {
	c.heard(m)
	p := &c.crowd.members[m.Slot]
	if p.until > c.now {
		p.until = 0
		c.crowd.place(m.Slot, c.now)
		c.returned()
	}
}

// contributed notes a member's contribution, and how long it took.
func (c *Core) contributed(m gather.Member, current bool) {
	if c.roster.open {
		return
	}
	p := &c.crowd.members[m.Slot]
	if p.inARow, p.until = 0, 0; p.at > 0 {
		c.crowd.place(m.Slot, c.now)
	}
	c.time(p, current)
}

// time smooths the latency of an answer to the current attempt.
func (c *Core) time(p *presence, current bool) {
	if !current {
		return
	}
	took := float64(c.now - c.round.asked)
	if p.latency == 0 {
		p.latency = took
	}
	p.latency += (took - p.latency) / 8
}

// declined notes a member's decline. A member that keeps declining steps out: for as long as it
// says, or else for a time that doubles.
func (c *Core) declined(m gather.Member, r *wire.Reply, current bool) {
	if c.roster.open {
		return
	}
	p := &c.crowd.members[m.Slot]
	p.declines++
	p.inARow = min(p.inARow+1, 100)
	c.time(p, current)
	out := uint64(0)
	if a, ok := r.Away(); ok {
		out = a.Milliseconds
	} else if p.inARow > stepOutAfter {
		out = min(uint64(stepOutFirst)<<min(p.inARow-stepOutAfter-1, 16), stepOutMost,
			stepOutDeadlines*uint64(c.Plan.Deadline))
	}
	if out == 0 {
		return
	}
	was := p.state(c.now)
	p.until = c.now + out
	c.crowd.place(m.Slot, c.now)
	if was == report.DevicePresent {
		c.emitEvent(report.Event{Kind: report.SteppedOut, ID: m.ID, Members: c.crowd.present(),
			Seconds: float64(out) / 1000, Reason: r.Reason.String()})
	}
}

// goodbye handles that a member leaves. It keeps its slot.
func (c *Core) goodbye(m gather.Member) {
	c.counters.Goodbyes++
	if c.roster.open {
		delete(c.roster.waiting, m.ID)
		return
	}
	p := &c.crowd.members[m.Slot]
	if p.left || p.retired {
		return
	}
	p.left, p.seen = true, c.now
	c.crowd.place(m.Slot, c.now)
	c.emitEvent(report.Event{Kind: report.Left, ID: m.ID, Members: c.crowd.present()})
	c.excuse(m)
}

// excuse makes the current attempt wait no longer for a member.
func (c *Core) excuse(m gather.Member) {
	p, r := &c.crowd.members[m.Slot], &c.round
	if c.phase != collecting || p.excused == r.serial || c.answers.Of(m) != 0 ||
		!c.asked(r.current(), m) {
		return
	}
	p.excused = r.serial
	c.answered(true)
}

// awaited counts the devices that the attempt just opened waits for, and excuses the absent ones.
func (c *Core) awaited() uint32 {
	r := &c.round
	current, waits := r.current(), uint32(r.cohort.Sampled)
	for _, slot := range c.answers.Given {
		if c.asked(current, gather.Member{Slot: slot}) {
			waits--
		}
	}
	if len(c.crowd.absent) == 0 {
		return waits
	}
	for slot := range c.slotsAsked() {
		p := &c.crowd.members[slot]
		if p.at > 0 && c.answers.Of(gather.Member{Slot: slot}) == 0 {
			p.excused = r.serial
			waits--
		}
	}
	return waits
}

// slotsAsked returns the slots that the current attempt asks.
func (c *Core) slotsAsked() iter.Seq[uint32] {
	r := &c.round
	if a := r.current(); a.groups != nil {
		return a.groups.Slots()
	}
	return r.cohort.Slots(c.Plan.Run, c.N+1, r.attempt)
}

// waitsFor says whether the current attempt still waits for a member; asked says whether it asks
// that member.
func (c *Core) waitsFor(m gather.Member, asked bool) bool {
	return asked && !c.roster.open && c.answers.Of(m) == 0 &&
		c.crowd.members[m.Slot].excused != c.round.serial
}

// awaits is waitsFor of any member, whether it is asked or not.
func (c *Core) awaits(m gather.Member) bool {
	return c.phase == collecting && c.waitsFor(m, c.asked(c.round.current(), m))
}

// missing returns the slots that the current attempt waits for, ascending, and of silent devices
// as many as can be named: a device that is not named takes its reply for received, and the reply
// of a silent one may be lost. ok is false if it waits for more than can be named.
func (c *Core) missing() (m wire.Missing, ok bool) {
	if c.roster.open || c.phase != collecting || c.round.pending > wire.MaxMissing {
		return nil, false
	}
	var slots, silent []uint32
	for slot := range c.slotsAsked() {
		switch m := (gather.Member{Slot: slot}); {
		case c.waitsFor(m, true):
			slots = append(slots, slot)
		case c.answers.Of(m) == 0 && c.crowd.members[slot].misses == silentAfter:
			silent = append(silent, slot)
		}
	}
	slots = append(slots, silent[:min(len(silent), wire.MaxMissing-len(slots))]...)
	slices.Sort(slots)
	return wire.MissingOf(slots)
}

// missed notes who let the deadline of the current attempt pass.
func (c *Core) missed() {
	if c.roster.open {
		return
	}
	var lost []uint32
	for slot := range c.slotsAsked() {
		p := &c.crowd.members[slot]
		if !c.waitsFor(gather.Member{Slot: slot}, true) || p.misses == silentAfter {
			continue
		}
		if p.misses++; p.misses == silentAfter {
			lost = append(lost, slot)
		}
	}
	slices.Sort(lost)
	for _, slot := range lost {
		c.crowd.place(slot, c.now)
		c.emitEvent(report.Event{Kind: report.Lost, ID: c.roster.ids[slot],
			Members: c.crowd.present()})
	}
}

// member returns the member with an id that takes part.
func (c *Core) member(id string) (m gather.Member, ok bool) {
	m, ok = c.roster.find(id)
	return m, ok && (c.roster.open || !c.crowd.members[m.Slot].retired)
}

// pauseOf returns the pause before attempt tries+1 of a record, in milliseconds: it doubles with
// each try, up to most, and differs from record to record.
func (c *Core) pauseOf(tries uint32, most uint64) uint64 {
	bound := min(uint64(250)<<min(tries, 16), max(most, 1))
	draw := prng.Philox([4]uint32{uint32(c.N), c.round.attempt, 0, 0}, prng.Key(c.epoch))[0]
	return bound - bound/2*uint64(draw)>>32
}

// Times are those of a [report.Device], in milliseconds since the coordinator began.
type Times struct {
	Seen    uint64  // 0: not heard of by this coordinator
	Until   uint64  // it stepped out until then
	Latency float64 // from an announcement to its answer, smoothed; 0: none yet
}

// Devices returns the members by slot, without times, and their times. There are none on an open
// roster.
func (c *Core) Devices(now uint64) (list []report.Device, times []Times) {
	now = max(c.now, now)
	list = make([]report.Device, 0, len(c.crowd.members))
	for slot := range c.crowd.members {
		p := &c.crowd.members[slot]
		m := gather.Member{Slot: uint32(slot), ID: c.roster.ids[slot]}
		d := report.Device{ID: m.ID, Slot: m.Slot, State: p.state(now), Declines: p.declines,
			Awaited: c.awaits(m)}
		d.Cut, d.Doubt = c.guard.Member(m.Slot)
		if p.seen > 0 {
			d.Missed = uint32(p.misses)
		}
		list = append(list, d)
		times = append(times, Times{p.seen, p.until, p.latency})
	}
	return list, times
}
