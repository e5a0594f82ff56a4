package engine

import (
	"testing"

	"github.com/zofl/zofl/wire"
)

// These tests check which devices rounds with groups ask if devices are silent, left or were
// retired.

// TestGroupsOfThePresent: if enough other devices are present, the round does not ask devices that
// left or were retired, and does not wait.
func TestGroupsOfThePresent(t *testing.T) {
	s := newGroupStage(t)
	by := s.named()
	bye := wire.Reply{Kind: wire.Decline, N: 1, Reason: wire.DeclineLeaving}
	gone := []int{by[0][0], by[1][0]}
	s.step(Input{Kind: InReply, ID: ids(groupDevices)[gone[0]], Frame: bye.Append(nil)})
	s.step(Input{Kind: InRetired, ID: ids(groupDevices)[gone[1]]})
	for group := range by {
		by[group] = by[group][1:]
		for _, slot := range by[group] {
			s.reply(slot, group)
		}
	}
	s.check(s.record(), by) // four of six: nobody is waited for
	for range 20 {
		s.step(Input{Kind: InAppended, N: s.c.N + 1})
		by := s.named()
		if len(by[0]) != 3 || len(by[1]) != 3 {
			t.Fatalf("groups %v of ten present members", by)
		}
		for group, slots := range by {
			for _, slot := range slots {
				if slot == gone[0] || slot == gone[1] {
					t.Errorf("slot %d is gone and asked", slot)
				}
				s.reply(slot, group)
			}
		}
		s.check(s.record(), by)
	}
}

// TestGroupsOfTheSilent: if none of the devices that a round asked is left, the round asks other
// devices at once. If all other devices are silent, the round asks them at intervals, and closes
// when they answer.
func TestGroupsOfTheSilent(t *testing.T) {
	s := newGroupStage(t, "max_attempts=1000", "quorum=6")
	by := s.named()
	for group, slots := range by {
		s.reply(slots[0], group)
		for _, slot := range slots[1:] {
			s.step(goodbyeOf(s.c, ids(groupDevices)[slot]))
		}
	}
	if s.c.cohort.Attempt.Number != 1 {
		t.Fatalf("attempt %d, want the next one, as those that were asked left",
			s.c.cohort.Attempt.Number)
	}
	for range 20 {
		s.now, _ = s.c.Wake()
		before := s.c.cohort.Attempt.Number
		s.step(Input{Kind: InTick})
		if after := s.c.cohort.Attempt.Number; after > before+1 {
			t.Fatalf("attempts %d to %d at once", before, after)
		}
	}
	if s.c.cohort.Crowd.Present() != 2 {
		t.Fatalf("%d are present, want 2", s.c.cohort.Crowd.Present())
	}
	for group, slots := range s.named() {
		for _, slot := range slots {
			if s.c.phase() == collecting {
				s.reply(slot, group)
			}
		}
	}
	if r := s.record(); r.Contributors != 6 {
		t.Errorf("%d contributed, want 6", r.Contributors)
	}
}

// TestGroupsOfTheLeft: a round that lacks devices also asks devices that said goodbye. A device
// that restarts at once may join before its goodbye arrives.
func TestGroupsOfTheLeft(t *testing.T) {
	s := newGroupStage(t, "quorum=6")
	for _, id := range ids(groupDevices)[5:] {
		s.step(goodbyeOf(s.c, id))
	}
	s.now = s.c.round.deadline
	s.step(Input{Kind: InTick})
	for group, slots := range s.named() {
		for _, slot := range slots {
			if slot <= 5 {
				s.reply(slot, group)
			}
		}
	}
	if r := s.record(); r.Contributors != 6 {
		t.Errorf("%d contributed, want the five that stayed and one that is back", r.Contributors)
	}
}

// TestGroupsFindWhoIsBack: a round also asks a silent device, and does not wait for it. If the
// silent device answers, it is present again.
func TestGroupsFindWhoIsBack(t *testing.T) {
	s := newGroupStage(t)
	lost := s.named()[0][0]
	for s.c.cohort.Crowd.Present() == groupDevices {
		if s.answerWithout(lost); s.c.phase() == collecting {
			s.now = s.c.round.deadline
			s.step(Input{Kind: InTick})
		}
		s.step(Input{Kind: InAppended, N: s.c.N + 1})
	}
	for range 100 {
		group, asked := s.answerWithout(lost)
		s.record() // it closed at once
		if asked {
			s.reply(lost, group)
			if present := s.c.cohort.Crowd.Present(); present != groupDevices {
				t.Errorf("%d are present after the silent one answered, want all", present)
			}
			return
		}
		s.step(Input{Kind: InAppended, N: s.c.N + 1})
	}
	t.Error("100 rounds never ask the silent device")
}

// answerWithout makes all devices that the open round asks answer, except one. It returns the group
// of that device if the round asks it.
func (s *groupStage) answerWithout(silent int) (groupOf int, asked bool) {
	s.Helper()
	for group, slots := range s.named() {
		for _, slot := range slots {
			if slot == silent {
				groupOf, asked = group, true
			} else if s.c.phase() == collecting {
				s.reply(slot, group)
			}
		}
	}
	return groupOf, asked
}
