// Package presence remembers what a coordinator has seen of the members of a listed roster, by
// slot: which are present, silent, away, gone or retired.
package presence

import (
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/deviceinfo"
)

const (
	// SilentAfter is how many rounds in a row wait for a device in vain before no round waits for it.
	SilentAfter = 3
	// stepOutAfter is how many declines in a row leave a device present.
	stepOutAfter = 1
	// stepOutFirst and stepOutMost bound the break of a device that keeps declining and does not say
	// for how long. Each decline doubles the time. It is at most stepOutDeadlines of the plan, because
	// rounds that are short are worth a try sooner.
	stepOutFirst     = 1000      // milliseconds
	stepOutMost      = 60 * 1000 // milliseconds
	stepOutDeadlines = 16
	// vainMiss is how many answers make up for a round that waited in vain for a member. A member that
	// misses SilentAfter of them, in a row or nearly so, is doubtful.
	vainMiss = 8
	// patience is how many times its usual latency a round with a quorum waits for a member.
	patience = 8
	// mostSlack bounds how often patience doubles.
	mostSlack = 16
	// firstDebt is how many answers make a member reliable again, and a newcomer for the first time.
	// It doubles each time that a member becomes doubtful, at most mostStalls times.
	firstDebt  = 8
	mostStalls = 5
)

// A Member is what the coordinator has seen of one member.
//
// Invariant: at is its place in Crowd.absent plus 1, 0 if it is present.
type Member struct {
	Seen     uint64  // when it was last heard of; 0: not by this coordinator
	Latency  float64 // milliseconds from an announcement to its answer, smoothed; 0: none yet
	Declines uint32  // all of them
	InARow   uint8   // declines since its last contribution
	Misses   uint8   // deadlines that it let pass since it was last heard of
	Left     bool    // it said goodbye
	Lost     bool    // it was told to be lost, since it was last heard of
	Retired  bool
	Record   uint64             // the last one that it contributed to; 0: none
	About    *deviceinfo.Device // what it tells about itself; nil: nothing
	Until    uint64             // it stepped out until then
	at       int32
	Excused  uint32 // the attempt, by its serial number, that does not wait for it
	vain     uint8  // rises by vainMiss with each round in vain, sinks by 1 with each answer
	stalls   uint8  // how often vain was too high, at most mostStalls
	debt     uint16 // answers that it owes until it may be relied on again
	redeemed uint64 // the last record that it answered
	twins    twins
	unused   unused
	timed    bool  // Latency is of answers
	slack    uint8 // rounds that waited for it in vain since it last answered in time
}

// A Crowd is all members, by slot.
type Crowd struct {
	Members []Member
	absent  []uint32 // slots
	owing   int      // members with a debt
	twins   []uint32 // slots as which two devices send
	unused  []uint32 // slots whose work counts for little or nothing
}

// Grow adds members. Members from which this coordinator has not heard yet get one deadline.
func (w *Crowd) Grow(members int, known bool) {
	p := Member{}
	if !known {
		p.Misses = SilentAfter - 1
	}
	for len(w.Members) < members {
		w.Members = append(w.Members, p)
	}
}

// State says where a member is.
func (p *Member) State(now uint64) report.DeviceState {
	switch {
	case p.Retired:
		return report.DeviceRetired
	case p.Left:
		return report.DeviceLeft
	case p.Misses >= SilentAfter:
		return report.DeviceSilent
	case p.Until > now:
		return report.DeviceAway
	}
	return report.DevicePresent
}

// Place moves a member between the present and the absent.
func (w *Crowd) Place(slot uint32, now uint64) {
	p := &w.Members[slot]
	switch absent := p.State(now) != report.DevicePresent; {
	case absent && p.at == 0:
		w.absent = append(w.absent, slot)
		p.at = int32(len(w.absent))
	case !absent && p.at > 0:
		last := w.absent[len(w.absent)-1]
		w.absent[p.at-1] = last
		w.Members[last].at = p.at
		w.absent, p.at = w.absent[:len(w.absent)-1], 0
	}
}

// Sweep notes that devices which stepped out are back.
func (w *Crowd) Sweep(now uint64) {
	for i := len(w.absent) - 1; i >= 0; i-- {
		w.Place(w.absent[i], now)
	}
}

// Absent returns the slots of members that are believed to be absent. The caller must not change
// them.
func (w *Crowd) Absent() []uint32 { return w.absent }

// Absent says whether the member is believed to be absent.
func (p *Member) Absent() bool { return p.at > 0 }

// IsAbsent says whether the member of a slot is believed to be absent.
func (w *Crowd) IsAbsent(slot uint32) bool { return w.Members[slot].Absent() }

// Present is how many members are believed to be present.
func (w *Crowd) Present() uint32 { return uint32(len(w.Members) - len(w.absent)) }

// Cohort returns the devices that an attempt asks. They are so many that, if the absent members are
// spread evenly, sampled present ones are among them. Each attempt asks twice as many as the
// attempt before, so that few present devices are found too.
func (w *Crowd) Cohort(sampled, attempt uint32) wire.Cohort {
	members, present := uint64(len(w.Members)), uint64(max(w.Present(), 1))
	asked := (uint64(sampled)*members + present - 1) / present << min(attempt, 32)
	return wire.Cohort{Sampled: min(asked, members), Members: uint32(members)}
}

// Pardon lets a round wait once more for every silent member.
func (w *Crowd) Pardon(now uint64) {
	for i := len(w.absent) - 1; i >= 0; i-- {
		slot := w.absent[i]
		if p := &w.Members[slot]; p.Misses >= SilentAfter {
			p.Misses = SilentAfter - 1
			w.Place(slot, now)
		}
	}
}

// Heard notes that the member sent something.
func (p *Member) Heard(now uint64) { p.Seen, p.Misses, p.Left, p.Lost = now, 0, false, false }

// Relied says whether a round with a quorum still counts on the member after waited milliseconds.
// It does so for a time that doubles with each round that waited in vain, so that a member which
// has become slower is heard again. The time is at least least. If a member has not answered yet,
// its delay is unknown.
func (p *Member) Relied(waited, least uint64) bool {
	return !p.Doubtful() && (!p.timed || waited < max(uint64(patience*p.Latency), least)<<p.slack)
}

// Took smooths the latency with another answer's, in milliseconds.
func (p *Member) Took(latency float64) {
	p.slack, p.timed = 0, true
	if p.Latency == 0 {
		p.Latency = latency
	}
	p.Latency += (latency - p.Latency) / 8
}

// Decline notes another decline in a row. It returns for how many milliseconds the member then
// steps out if it does not say itself: 0 at first, then a time that doubles.
func (p *Member) Decline(deadline uint32) uint64 {
	p.Declines++
	p.InARow = min(p.InARow+1, 100)
	if p.InARow <= stepOutAfter {
		return 0
	}
	return min(uint64(stepOutFirst)<<min(p.InARow-stepOutAfter-1, 16), stepOutMost,
		stepOutDeadlines*uint64(deadline))
}

// Doubtful says whether a round with a quorum should not wait for the member until its deadline.
func (p *Member) Doubtful() bool { return p.debt > 0 }

// Doubtful is how many members are doubtful.
func (w *Crowd) Doubtful() int { return w.owing }

// Doubt makes a newcomer doubtful until it has answered firstDebt records.
func (w *Crowd) Doubt(slot uint32) { w.owe(&w.Members[slot], firstDebt) }

// Stalled notes that a round waited for a member in vain, until its deadline or as long as its
// [Member.Relied] says. If that happens too often, the member owes answers: first firstDebt, then
// twice as many, and so on.
func (w *Crowd) Stalled(slot uint32) {
	p := &w.Members[slot]
	p.slack = min(p.slack+1, mostSlack)
	if p.vain += vainMiss; p.vain < SilentAfter*vainMiss {
		return
	}
	w.owe(p, firstDebt<<p.stalls)
	p.vain, p.stalls = 0, min(p.stalls+1, mostStalls)
}

func (w *Crowd) owe(p *Member, answers uint16) {
	if p.debt == 0 {
		w.owing++
	}
	p.debt = max(p.debt, answers)
}

// Redeem notes that a member answered record n. Several answers to one record count once.
func (w *Crowd) Redeem(slot uint32, n uint64) {
	p := &w.Members[slot]
	if n <= p.redeemed {
		return
	}
	p.redeemed, p.vain = n, p.vain-min(p.vain, 1)
	if p.debt == 0 {
		return
	}
	if p.debt--; p.debt == 0 {
		w.owing--
	}
}
