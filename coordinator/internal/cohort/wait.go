package cohort

import (
	"slices"

	"github.com/zofl/zofl/coordinator/internal/presence"
	"github.com/zofl/zofl/wire"
)

// Await decides for which devices an attempt waits. taken is the number of contributions that the
// record has already. Await forgets earlier declines, and does not wait for absent devices.
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

// AwaitStep decides for which devices the attempt waits in its next step.
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

// Answered notes an answer; waited says whether the attempt waited for that answer.
func (k *Cohort) Answered(waited bool) {
	switch {
	case waited:
		k.Pending--
	case k.Roster.Open && k.Attempt.Number == 0:
		k.Rate.Answers++
	}
}

// Excuse makes the attempt stop waiting for a member, and returns true if the attempt did wait.
func (k *Cohort) Excuse(m presence.Device) bool {
	p := &k.Crowd.Members[m.Slot]
	if p.Excused == k.serial || k.Answers.Of(m) != 0 || !k.Asks(m) {
		return false
	}
	p.Excused = k.serial
	return true
}

// Relied says whether the attempt, which has a quorum, still waits for a reliable member. The
// attempt waits at least least milliseconds for each such member, but unheard milliseconds for a
// member that this coordinator has not heard.
func (k *Cohort) Relied(now, least, unheard uint64) bool {
	for slot := range k.slots() {
		if k.Waits(presence.Device{Slot: slot}, true) &&
			k.Crowd.Members[slot].Relied(now-k.Since, least, unheard) {
			return true
		}
	}
	return false
}

// Missing returns the slots for which the attempt waits, ascending, and as many slots of silent
// devices as fit. A device that Missing does not name concludes that its reply arrived, but the
// reply of a silent device may be lost. ok is false if the attempt waits for more devices than it
// can name.
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

// Lacks returns a member's slot if the member's answer to the open record has not arrived.
func (k *Cohort) Lacks(slot uint32) (m wire.Missing) {
	if k.Answers.Of(presence.Device{Slot: slot}) == 0 {
		m, _ = wire.MissingOf([]uint32{slot})
	}
	return m
}

// Missed notes the devices for which an attempt that closes waited in vain. over says whether the
// attempt waited until its end. Missed returns the slots of members that are silent from now on,
// ascending.
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

// Lose notes that no round waits for a silent member any more. news is false if Lose was called for
// the member before and the member sent nothing since: a pardoned member may become silent again.
func (k *Cohort) Lose(slot uint32, now uint64) (news bool) {
	k.Crowd.Place(slot, now)
	p := &k.Crowd.Members[slot]
	news, p.Lost = !p.Lost, true
	return news
}

// Lacking returns how many more devices the open record needs for the plan's quorum, in addition to
// the given number of contributions and the present devices that may still contribute.
func (k *Cohort) Lacking(contributed uint32) int {
	reachable := int(k.Crowd.Present())
	for _, slot := range k.Answers.Given {
		if k.Contributed(presence.Device{Slot: slot}) && !k.Crowd.Members[slot].Absent() {
			reachable--
		}
	}
	return int(k.log.Plan.Quorum) - int(contributed) - reachable
}

// BackBy returns the time when enough devices will be back from their breaks for a quorum, with the
// given number of contributions. If too few devices are on a break, BackBy returns math.MaxUint64.
func (k *Cohort) BackBy(contributed uint32, now uint64) uint64 {
	k.Crowd.Sweep(now)
	return k.Crowd.BackBy(now, k.Lacking(contributed))
}
