package cohort

import (
	"github.com/zofl/zofl/coordinator/internal/presence"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/deviceinfo"
)

// The methods in this file track which members of a listed roster take part. Presence decides how
// many devices an attempt asks and for which devices it waits, and nothing else. The cohort stays a
// uniform choice of the roster, which anybody can recompute: the cohort has every present device
// with the same probability. With an open roster, the coordinator only counts
// the contributions of some devices.

// Heard notes that a member sent something. back says whether the member was lost, silent or had
// left.
func (k *Cohort) Heard(m presence.Device, now uint64) (back bool) {
	if k.Roster.Open {
		return false
	}
	p := &k.Crowd.Members[m.Slot]
	was, lost := p.State(now), p.Lost
	p.Heard(now)
	if !lost && was != report.DeviceLeft && was != report.DeviceSilent {
		return false
	}
	k.Crowd.Place(m.Slot, now)
	return true
}

// Same says whether a member's answers now prove that two devices send as this member.
func (k *Cohort) Same(m presence.Device, a presence.Answer) bool {
	return !k.Roster.Open && k.Crowd.Compare(m.Slot, a)
}

// Rejoined notes that a member joined again, which ends the member's break. back says whether the
// member was on a break. Rejoined also notes what the member says about itself, if anything,
// and returns the values that the member's app reports.
func (k *Cohort) Rejoined(m presence.Device, tells []byte,
	now uint64) (back bool, values deviceinfo.Values) {
	p := &k.Crowd.Members[m.Slot]
	p.About = nil
	if len(tells) > 0 {
		if told, more, ok := deviceinfo.Of(tells); ok {
			p.About, values = &told, deviceinfo.ValuesOf(more)
			p.Reported(values)
		}
	}
	if p.Until <= now {
		return false, values
	}
	p.Until = 0
	k.Crowd.Place(m.Slot, now)
	return true, values
}

// Took notes a member's contribution to record n. current says whether the last attempt asked for
// the contribution, so that the member's latency is known.
func (k *Cohort) Took(m presence.Device, n uint64, current bool, now uint64) {
	if current {
		k.worked = now - k.Since
	}
	if k.Roster.Open {
		k.Sample.Add(m.ID)
		return
	}
	p := &k.Crowd.Members[m.Slot]
	p.Record = max(p.Record, n)
	p.Contributions++
	k.Crowd.Used(m.Slot)
	if p.InARow, p.Until = 0, 0; p.Absent() {
		k.Crowd.Place(m.Slot, now)
	}
	if current {
		p.Took(float64(now - k.Since))
	}
}

// Redeem notes that a member answered record n.
func (k *Cohort) Redeem(m presence.Device, n uint64) {
	if !k.Roster.Open {
		k.Crowd.Redeem(m.Slot, n)
	}
}

// Unused notes that a member's work on record n came too late to count. tell says whether to report
// that now.
func (k *Cohort) Unused(slot uint32, n uint64) (tell bool) {
	return !k.Roster.Open && k.Crowd.Unused(slot, n)
}

// Declined notes that a member will not contribute to the open record.
func (k *Cohort) Declined(m presence.Device, reason wire.DeclineReason) {
	k.Answers.Set(m, presence.Declined)
	if int(reason) >= len(k.Reasons) {
		reason = 0
	}
	k.Reasons[reason]++
}

// Rest gives a member that keeps declining a break: for as long as the member says, or else for a
// time that doubles. Rest returns the length of the break if the member was present before, and
// otherwise 0.
func (k *Cohort) Rest(m presence.Device, r *wire.Reply, current bool, now uint64) (out uint64) {
	if k.Roster.Open {
		return 0
	}
	p := &k.Crowd.Members[m.Slot]
	if current {
		p.Took(float64(now - k.Since))
	}
	out = p.Decline(k.log.Plan.Deadline)
	if a, ok := r.Away(); ok {
		out = a.Milliseconds
	}
	if out == 0 {
		return 0
	}
	was := p.State(now)
	p.Until = now + out
	k.Crowd.Place(m.Slot, now)
	if was != report.DevicePresent {
		return 0
	}
	return out
}

// Left notes that a member leaves. The member keeps its slot. news is false if the member had left
// already, or is retired.
func (k *Cohort) Left(m presence.Device, now uint64) (news bool) {
	if k.Roster.Open {
		delete(k.Roster.Waiting, m.ID)
		return false
	}
	p := &k.Crowd.Members[m.Slot]
	if p.Left || p.Retired {
		return false
	}
	p.Left, p.Seen = true, now
	k.Crowd.Place(m.Slot, now)
	return true
}
