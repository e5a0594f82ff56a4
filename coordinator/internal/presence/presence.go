// Package presence remembers, by slot, what a coordinator knows of the members of a listed roster:
// which members are present, silent, away, gone or retired.
package presence

import (
	"maps"

	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/deviceinfo"
)

const (
	// SilentAfter is the number of rounds in a row that wait in vain for a device before rounds stop
	// waiting for that device.
	SilentAfter = 3
	// stepOutAfter is the number of declines in a row after which a device still counts as present.
	stepOutAfter = 1
	// stepOutFirst and stepOutMost bound the break of a device that keeps declining and does not say
	// how long it will be away. Each decline doubles the break. The break is at most stepOutDeadlines
	// times the plan's deadline, because with short rounds it pays to ask the device again sooner.
	stepOutFirst     = 1000      // milliseconds
	stepOutMost      = 60 * 1000 // milliseconds
	stepOutDeadlines = 16
	// vainMiss is the number of answers that make up for a round that waited in vain for a member. A
	// member that causes SilentAfter such rounds, in a row or nearly so, is doubtful.
	vainMiss = 8
	// patience is how many times a member's usual latency a round with a quorum waits for that member.
	patience = 8
	// mostSlack bounds how often patience doubles.
	mostSlack = 16
	// firstDebt is the number of answers after which a newcomer, or a doubtful member, counts as
	// reliable. The number doubles each time that a member becomes doubtful, at most mostStalls times.
	firstDebt  = 8
	mostStalls = 5
)

// A Member is what the coordinator has seen of one member.
//
// Invariant: at is the member's index in Crowd.absent plus 1, or 0 if the member is present.
type Member struct {
	Seen     uint64  // when it was last heard of; 0: not by this coordinator
	Latency  float64 // milliseconds from an announcement to its answer, smoothed; 0: none yet
	Declines uint32  // all of them

	Contributions uint32 // all of them

	InARow   uint8 // declines since its last contribution
	Misses   uint8 // deadlines that it let pass since it was last heard of
	Left     bool  // it said goodbye
	Lost     bool  // it was told to be lost, since it was last heard of
	Retired  bool
	LeftOut  bool               // sums leave it out, see [Crowd.Accuse]
	Record   uint64             // the last one that it contributed to; 0: none
	About    *deviceinfo.Device // what it tells about itself; nil: nothing
	Values   deviceinfo.Values  // the last numbers that its app reported; nil: none
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
	accused []Accused
}

// Grow adds members. If this coordinator has not heard from the new members yet, rounds wait for
// them for one deadline at most, see [Member.Relied].
func (w *Crowd) Grow(members int, known bool) {
	p := Member{}
	if !known {
		p.Misses = SilentAfter - 1
	}
	for len(w.Members) < members {
		w.Members = append(w.Members, p)
	}
}

// State returns whether a member is present, away, silent, gone, left out or retired.
func (p *Member) State(now uint64) report.DeviceState {
	switch {
	case p.Retired:
		return report.DeviceRetired
	case p.LeftOut:
		return report.DeviceLeftOut
	case p.Left:
		return report.DeviceLeft
	case p.Misses >= SilentAfter:
		return report.DeviceSilent
	case p.Until > now:
		return report.DeviceAway
	}
	return report.DevicePresent
}

// Place moves a member into the list of absent members, or out of the list.
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

// Sweep notes that devices whose break has ended are present again.
func (w *Crowd) Sweep(now uint64) {
	for i := len(w.absent) - 1; i >= 0; i-- {
		w.Place(w.absent[i], now)
	}
}

// Absent returns the slots of the members that the coordinator believes absent. The caller must not
// change the returned slice.
func (w *Crowd) Absent() []uint32 { return w.absent }

// Absent says whether the coordinator believes the member absent.
func (p *Member) Absent() bool { return p.at > 0 }

// IsAbsent says whether the coordinator believes the member of a slot absent.
func (w *Crowd) IsAbsent(slot uint32) bool { return w.Members[slot].Absent() }

// Present is the number of members that the coordinator believes present.
func (w *Crowd) Present() uint32 { return uint32(len(w.Members) - len(w.absent)) }

// Cohort returns the devices that an attempt asks. Cohort asks so many devices that sampled present
// devices are among them if the absent members are spread evenly. Each attempt asks twice as many
// devices as the attempt before, so that the coordinator also finds a few present devices among
// many.
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

// Relied says whether a round with a quorum still waits for the member after waited milliseconds.
// The round waits for a time of at least least, and the time doubles with each round that waited in
// vain, so that rounds hear a member again that has become slower. If a member has not answered
// yet, its delay is unknown, and Relied returns true unless the member is doubtful. But a member
// that this coordinator has not heard may be gone for long: the round waits for it for a time of
// unheard.
func (p *Member) Relied(waited, least, unheard uint64) bool {
	switch {
	case p.Doubtful():
		return false
	case p.Seen == 0 && p.Misses > 0:
		return waited < unheard
	case !p.timed:
		return true
	}
	return waited < max(uint64(patience*p.Latency), least)<<p.slack
}

// Took updates the smoothed latency with the latency of another answer, in milliseconds.
func (p *Member) Took(latency float64) {
	p.slack, p.timed = 0, true
	if p.Latency == 0 {
		p.Latency = latency
	}
	p.Latency += (latency - p.Latency) / 8
}

// Decline notes another decline in a row. Decline returns how many milliseconds the member's break
// lasts if the member does not say: 0 at first, then a time that doubles.
func (p *Member) Decline(deadline uint32) uint64 {
	p.Declines++
	p.InARow = min(p.InARow+1, 100)
	if p.InARow <= stepOutAfter {
		return 0
	}
	return min(uint64(stepOutFirst)<<min(p.InARow-stepOutAfter-1, 16), stepOutMost,
		stepOutDeadlines*uint64(deadline))
}

// Doubtful says whether the member is unreliable, so that a round with a quorum should not wait for
// it until the deadline.
func (p *Member) Doubtful() bool { return p.debt > 0 }

// Doubtful is the number of doubtful members.
func (w *Crowd) Doubtful() int { return w.owing }

// Doubt makes a newcomer doubtful until it has answered firstDebt records.
func (w *Crowd) Doubt(slot uint32) { w.owe(&w.Members[slot], firstDebt) }

// Stalled notes that a round waited for a member in vain, until the round's deadline or as long as
// [Member.Relied] says. If that happens too often, the member becomes doubtful until it has
// answered firstDebt records, next time twice as many, and so on.
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

// Redeem notes that a member answered record n. Several answers to the same record count once.
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

// Reported notes values that the member's app reports. The member keeps the values of the names
// that it reported before, as long as there are not too many. Others may still read the values that
// it had.
func (p *Member) Reported(values deviceinfo.Values) {
	if values == nil {
		return
	}
	all := maps.Clone(p.Values)
	if all == nil {
		all = deviceinfo.Values{}
	}
	maps.Copy(all, values)
	if len(all) > deviceinfo.MaxValues {
		all = values
	}
	p.Values = all
}
