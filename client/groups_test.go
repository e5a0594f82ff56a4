package client_test

import (
	"testing"

	"github.com/zofl/zofl/internal/grouping"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/wire"
)

// groupPlan returns a plan whose devices share directions by groups.
func groupPlan() *plan.Plan {
	p := testPlan(small)
	p.Sharing, p.Transport, p.Groups = plan.GroupDirections, plan.Relay, grouping.Random
	p.GroupSize, p.Regroup = 1, 1
	return p
}

// inGroups names slots by group in an announcement.
func inGroups(groups ...[]uint32) func(*wire.Announcement) {
	return func(a *wire.Announcement) {
		a.Rest = grouping.Tail(wire.Reference{}, nil, false, groups)
	}
}

// groupOf checks that a contribution names a group and has the scalars along the group's
// directions. A device has the same directions in a run with directions by device, if its slot is
// the group's number.
func groupOf(t *testing.T, r reply, group uint32, own map[uint32]string) {
	t.Helper()
	if got, ok := grouping.OfReply(&r.Reply); !ok || got != group {
		t.Errorf("the contribution names group %d, %v, want %d", got, ok, group)
	}
	if string(r.Values) != own[group] {
		t.Errorf("group %d: scalars %x, want %x", group, r.Values, own[group])
	}
}

// ownScalars returns the scalars of a device with directions of its own, by slot.
func ownScalars(t *testing.T, id string) map[uint32]string {
	own := map[uint32]string{}
	for slot := range uint32(3) {
		bubble(t, func(t *testing.T) {
			p := groupPlan()
			p.Sharing, p.Groups, p.GroupSize, p.Regroup = plan.PerClient, grouping.None, 0, 0
			h := newHost(t, p)
			h.slots[id] = slot
			h.device(id, bowlLoss(small, 0))
			h.announce(func(a *wire.Announcement) { a.Cohort.Sampled, a.Cohort.Members = 9, 9 })
			own[slot] = string(h.one(wire.Contribution).Values)
		})
	}
	if own[0] == own[1] || own[1] == own[2] {
		t.Fatal("directions of different slots are the same")
	}
	return own
}

// A device evaluates its loss along the directions of the group that the announcement gives it, and
// answers again with the same bytes. If another coordinator puts the device into another group, the
// device computes new scalars. If no group contains the device, it stays silent.
func TestGroups(t *testing.T) {
	own := ownScalars(t, "d0")
	bubble(t, func(t *testing.T) {
		h, store, o := newHost(t, groupPlan()), newStore(t), bowlLoss(small, 0)
		d := h.device("d0", o, with(store))
		h.announce(inGroups([]uint32{5}, []uint32{0, 7}))
		first := h.one(wire.Contribution)
		groupOf(t, first, 1, own)
		h.announce(inGroups([]uint32{3}, []uint32{0}), func(a *wire.Announcement) { a.Attempt = 1 })
		if again := h.one(wire.Contribution); string(again.frame) != string(first.frame) {
			t.Errorf("got\n%x, first\n%x", again.frame, first.frame)
		}
		for _, tail := range [][]byte{nil, {0x90}, {0x90, 0x90, 0x91, 0xc4}} {
			h.announce(func(a *wire.Announcement) { a.Rest = tail })
			h.silent()
		}
		h.announce(inGroups([]uint32{1, 2}))
		h.silent()
		h.announce(inGroups([]uint32{5}, []uint32{7}, []uint32{0}),
			func(a *wire.Announcement) { a.Epoch = 9 })
		second := h.one(wire.Contribution)
		groupOf(t, second, 2, own)

		// A device keeps its last contribution over a restart.
		d.stop()
		d = h.device("d0", o, with(store))
		h.announce(inGroups(nil, nil, []uint32{0}))
		if again := h.one(wire.Contribution); string(again.frame) != string(second.frame) {
			t.Errorf("got\n%x, before the restart\n%x", again.frame, second.frame)
		}
		h.announce(inGroups([]uint32{0}))
		groupOf(t, h.one(wire.Contribution), 0, own)

		// The record has the groups' terms, which every replica replays.
		h.conclude(wire.Round{Terms: []wire.Term{
			{Source: prng.Slot(0), Scalars: first.Values},
			{Source: prng.Slot(2), Scalars: second.Values}}, Contributors: 5})
		h.announce(inGroups([]uint32{0}))
		h.one(wire.Contribution)
		h.agrees(d, h.last())
	})
}

// Devices that no announcement can name draw their group. A device's group differs between records,
// and not between attempts or coordinators. The contribution names no group.
func TestDrawnGroups(t *testing.T) {
	own := ownScalars(t, "d0")
	bubble(t, func(t *testing.T) {
		p := groupPlan()
		p.Roster, p.Target, p.OverSample = plan.OpenRoster, 3, 1
		h, store, drawn := newHost(t, p), newStore(t), map[uint32]bool{}
		d := h.device("d0", bowlLoss(small, 0), with(store))
		h.announce()
		first := h.one(wire.Contribution)
		group := grouping.Drawn(p, h.last()+1, "d0")
		if _, says := grouping.OfReply(&first.Reply); says || string(first.Values) != own[group] {
			t.Errorf("group %d: named %v, scalars %x, want %x", group, says, first.Values, own[group])
		}
		d.stop()
		d = h.device("d0", bowlLoss(small, 0), with(store))
		h.epoch = 9
		h.announce(func(a *wire.Announcement) { a.Attempt = 3 })
		if again := h.one(wire.Contribution); string(again.frame) != string(first.frame) {
			t.Errorf("got\n%x, first\n%x", again.frame, first.frame)
		}
		for range 12 {
			group := grouping.Drawn(p, h.last()+1, "d0")
			drawn[group] = true
			h.conclude(wire.Round{Terms: []wire.Term{{Source: prng.Slot(group),
				Scalars: first.Values}}, Contributors: 1})
			h.announce()
			h.one(wire.Contribution)
		}
		if len(drawn) != 3 {
			t.Errorf("12 records have it in groups %v, want all three", drawn)
		}
		h.agrees(d, h.last())
	})
}
