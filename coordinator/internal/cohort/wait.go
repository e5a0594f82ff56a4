package cohort

import (
	"slices"

	"github.com/zofl/zofl/coordinator/internal/presence"
	"github.com/zofl/zofl/wire"
)

// Await decides for whom an attempt waits that has taken a number of contributions. It forgets the
// declines before, and excuses absent devices.
func (k *Cohort) Await(taken uint32) {
	k.Reasons = [len(k.Reasons)]uint32{}
	k.Answers.Forgive()
	if k.Roster.Open {
		k.Reachable = uint32(k.Want())
		if k.Attempt.Number == 0 {
			k.Rate.Begin(k.Attempt.Cohort.Sampled)
		}
		return
	}
	k.Pending = k.awaited()
	k.Reachable = k.Pending + taken
}

func (k *Cohort) awaited() uint32 {
	waits := uint32(k.Attempt.Cohort.Sampled)
	for _, slot := range k.Answers.Given {
		if k.Asks(presence.Device{Slot: slot}) {
			waits--
		}
	}
	if len(k.Crowd.Absent()) == 0 {
		return waits
	}
	for slot := range k.slots() {
		p := &k.Crowd.Members[slot]
		if p.Absent() && k.Answers.Of(presence.Device{Slot: slot}) == 0 {
			p.Excused = k.serial
			waits--
		}
	}
	return waits
}

// AwaitStep decides for whom the attempt waits in its next step.
func (k *Cohort) AwaitStep(now uint64) {
	k.Since, k.Pending = now, 0
	for slot := range k.slots() {
		if k.Waits(presence.Device{Slot: slot}, true) {
			k.Pending++
		}
	}
}

// Waits says whether the attempt still waits for a member; asked says whether it asks that member.
func (k *Cohort) Waits(m presence.Device, asked bool) bool {
	return asked && !k.Roster.Open && k.Answers.Of(m) == 0 &&
		k.Crowd.Members[m.Slot].Excused != k.serial && (k.steps == nil || k.steps.Waits(m.Slot))
}

// Answered notes an answer; waited says whether the attempt waited for it.
func (k *Cohort) Answered(waited bool) {
	switch {
	case waited:
		k.Pending--
	case k.Roster.Open && k.Attempt.Number == 0:
		k.Rate.Answers++
	}
}

// Excuse has the attempt wait no longer for a member, and says whether it did.
func (k *Cohort) Excuse(m presence.Device) bool {
	p := &k.Crowd.Members[m.Slot]
	if p.Excused == k.serial || k.Answers.Of(m) != 0 || !k.Asks(m) {
		return false
	}
	p.Excused = k.serial
	return true
}

// Relied says whether the attempt, which has a quorum, still counts on a member for which it waits.
// Each has at least least milliseconds.
func (k *Cohort) Relied(now, least uint64) bool {
	for slot := range k.slots() {
		if k.Waits(presence.Device{Slot: slot}, true) &&
			k.Crowd.Members[slot].Relied(now-k.Since, least) {
			return true
		}
	}
	return false
}

// Missing returns the slots for which the attempt waits, ascending, and as many slots of silent
// devices as fit. A device that is not named concludes that its reply arrived, but the reply of a
// silent device may be lost. ok is false if it waits for more than can be named.
func (k *Cohort) Missing() (m wire.Missing, ok bool) {
	if k.Roster.Open || k.Pending > wire.MaxMissing {
		return nil, false
	}
	var slots, silent []uint32
	for slot := range k.slots() {
		switch m := (presence.Device{Slot: slot}); {
		case k.Waits(m, true):
			slots = append(slots, slot)
		case k.Answers.Of(m) == 0 && k.Crowd.Members[slot].Misses == presence.SilentAfter:
			silent = append(silent, slot)
		}
	}
	slots = append(slots, silent[:min(len(silent), wire.MaxMissing-len(slots))]...)
	slices.Sort(slots)
	return wire.MissingOf(slots)
}

// Lacks names a member if its answer to the open record has not arrived.
func (k *Cohort) Lacks(slot uint32) (m wire.Missing) {
	if k.Answers.Of(presence.Device{Slot: slot}) == 0 {
		m, _ = wire.MissingOf([]uint32{slot})
	}
	return m
}

// Missed notes the devices for which an attempt that closes waited in vain. over says whether it
// waited until its end. It returns the slots of members that may be lost since, ascending.
func (k *Cohort) Missed(over bool) (silent []uint32) {
	if k.Roster.Open {
		return nil
	}
	for slot := range k.slots() {
		p := &k.Crowd.Members[slot]
		if !k.Waits(presence.Device{Slot: slot}, true) || p.Misses == presence.SilentAfter {
			continue
		}
		if over || !p.Doubtful() {
			k.Crowd.Stalled(slot)
		}
		if p.Misses++; p.Misses == presence.SilentAfter {
			silent = append(silent, slot)
		}
	}
	slices.Sort(silent)
	return silent
}

// Lose notes that no round waits for a silent member any more, and says whether that is news: a
// pardoned one is lost again.
func (k *Cohort) Lose(slot uint32, now uint64) (news bool) {
	k.Crowd.Place(slot, now)
	p := &k.Crowd.Members[slot]
	news, p.Lost = !p.Lost, true
	return news
}

// Lacking is how many more devices the open record needs for the plan's quorum, beyond the present
// ones that may still contribute, if so many contributed.
func (k *Cohort) Lacking(contributed uint32) int {
	reachable := int(k.Crowd.Present())
	for _, slot := range k.Answers.Given {
		if k.Contributed(presence.Device{Slot: slot}) && !k.Crowd.Members[slot].Absent() {
			reachable--
		}
	}
	return int(k.log.Plan.Quorum) - int(contributed) - reachable
}

// BackBy returns the time when enough devices are back from their break, if so many contributed. It
// is the largest number if there are too few.
func (k *Cohort) BackBy(contributed uint32, now uint64) uint64 {
	k.Crowd.Sweep(now)
	return k.Crowd.BackBy(now, k.Lacking(contributed))
}
