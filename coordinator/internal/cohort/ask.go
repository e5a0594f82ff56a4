package cohort

import (
	"iter"
	"slices"

	"github.com/zofl/zofl/coordinator/internal/policy"
	"github.com/zofl/zofl/coordinator/internal/presence"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/wire"
)

// An Attempt is the set of devices that an attempt at a record asks.
type Attempt struct {
	Number uint32
	Cohort wire.Cohort
	Draw   uint64       // the record for which the cohort is drawn, see [plan.Plan.Draw]
	Named  policy.Named // these, and nobody else; nil: the cohort
}

// Asks says whether the attempt asks a device.
func (a *Attempt) Asks(run string, slot uint32, id string) bool {
	if a.Named != nil {
		return a.Named.Has(slot)
	}
	if a.Cohort.Members > 0 && a.Cohort.Sampled >= uint64(a.Cohort.Members) {
		return slot < a.Cohort.Members
	}
	return a.Cohort.Has(run, a.Draw, a.Number, slot, id)
}

// Next begins the next record. Next forgets the answers to the record before, except answers that
// may come late. If both records are phases of one round for which the plan draws devices once,
// Next keeps the cohorts of the record before, by attempt. So the second phase asks the same
// devices as the first, even if devices joined or left since. A coordinator that restarted between
// the phases knows no cohorts: it asks the usual number of devices, from the same draw.
func (k *Cohort) Next() {
	k.Roster.Waiting = nil
	k.worked, k.Before = 0, k.worked
	k.Answers, k.late = k.late, k.Answers
	k.Answers.Reset()
	k.Answers.N = k.log.N + 1
	k.Answers.Grow(k.Roster.Stored)
	draw := k.draw()
	k.kept = k.kept[:0]
	for _, a := range k.Attempts {
		if draw <= k.log.N && draw == a.Draw {
			k.kept = append(k.kept, a.Cohort)
		}
	}
	k.Attempts = k.Attempts[:0]
}

// draw is the record number for which the open record's cohorts are drawn.
func (k *Cohort) draw() uint64 { return k.log.Plan.Draw(k.log.N+1, k.log.Point.N) }

// Ask begins an attempt at the open record: Attempt describes the attempt, and Await decides for
// which devices it waits. all says whether the attempt asks every member. round says whether the
// attempt asks for a round's scalars; in that case groups may name the devices.
func (k *Cohort) Ask(number uint32, all, round bool, now uint64) {
	a := Attempt{Number: number, Cohort: k.Draw(number, now), Draw: k.draw()}
	if all {
		a.Cohort.Sampled = uint64(a.Cohort.Members)
	}
	if round && k.groups != nil && k.groups.Names() {
		a.Named = k.groups.Choose(k.log.Rounds+1, number, k.Standing(now))
		a.Cohort.Sampled = uint64(a.Named.Count())
	}
	k.Attempt, k.Attempts = a, append(k.Attempts, a)
	if k.serial++; number > 0 {
		k.worked, k.Before = 0, 0
	}
	k.Since = now
}

// Idle makes announcements describe a cohort that no attempt asks, because evaluators are drawn
// from that cohort.
func (k *Cohort) Idle(now uint64) { k.Attempt = Attempt{Cohort: k.Draw(0, now)} }

// Draw returns the devices that an attempt asks. After Resume, the number of the attempt and the
// size of the cohort continue to grow. If the record keeps a cohort for the attempt, Draw returns
// that cohort.
func (k *Cohort) Draw(attempt uint32, now uint64) wire.Cohort {
	if int(attempt) < len(k.kept) {
		return k.kept[attempt]
	}
	if k.Roster.Open {
		return wire.Cohort{Sampled: k.Rate.Ask(k.Want(), attempt)}
	}
	k.Crowd.Sweep(now)
	all := k.Crowd.Cohort(k.log.Plan.Sampled(uint32(k.Roster.Stored)), attempt)
	if k.steps == nil {
		return all
	}
	return k.steps.Fit(all, k.log.N+1, attempt, k.Crowd.IsAbsent)
}

// Asks says whether the attempt asks a member.
func (k *Cohort) Asks(m presence.Device) bool {
	return k.Attempt.Asks(k.log.Plan.Run, m.Slot, m.ID)
}

// HasAsked says whether any attempt at the open record asks a member, and whether the last attempt
// does.
func (k *Cohort) HasAsked(m presence.Device) (current, ok bool) {
	for i := len(k.Attempts) - 1; i >= 0; i-- {
		if k.Attempts[i].Asks(k.log.Plan.Run, m.Slot, m.ID) {
			return i == len(k.Attempts)-1, true
		}
	}
	return false, false
}

// Everyone returns a function that says whether an attempt at the open record asked a member. The
// function stays valid after the record is closed.
func (k *Cohort) Everyone() func(presence.Device) bool {
	run, attempts := k.log.Plan.Run, slices.Clone(k.Attempts)
	return func(m presence.Device) bool {
		return slices.ContainsFunc(attempts,
			func(a Attempt) bool { return a.Asks(run, m.Slot, m.ID) })
	}
}

// Poll returns about how many present devices the attempt asks, and a function that says whether
// the attempt asks a device.
func (k *Cohort) Poll() (devices uint64, asks func(slot uint32, id string) bool) {
	run, a := k.log.Plan.Run, k.Attempt
	devices = k.Want()
	if !k.Roster.Open {
		devices = a.Cohort.Sampled * uint64(k.Crowd.Present()) / uint64(max(a.Cohort.Members, 1))
	}
	return devices, func(slot uint32, id string) bool { return a.Asks(run, slot, id) }
}

// slots returns the slots that the attempt asks.
func (k *Cohort) slots() iter.Seq[uint32] {
	a := &k.Attempt
	if a.Named != nil {
		return a.Named.Slots()
	}
	return a.Cohort.Slots(k.log.Plan.Run, a.Draw, a.Number)
}

// Standing returns the members with their present states, for policies.
func (k *Cohort) Standing(now uint64) policy.Members { return standing{k, now} }

type standing struct {
	*Cohort
	now uint64
}

func (s standing) Members() uint32 { return uint32(s.Roster.Stored) }

func (s standing) State(slot uint32) report.DeviceState {
	return s.Crowd.Members[slot].State(s.now)
}

func (s standing) Contributed(slot uint32) bool {
	return s.Cohort.Contributed(presence.Device{Slot: slot})
}
