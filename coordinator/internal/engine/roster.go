package engine

import (
	"fmt"

	"github.com/zofl/zofl/coordinator/internal/gather"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/subjects"
)

// A roster is who takes part.
//
// Invariants:
//  1. ids[slot] has that slot for ever. slots is the inverse.
//  2. Members with slots below stored are in the log. The others wait for it and have not been
//     told their slots.
//  3. On an open roster, ids is empty. waiting has at most as many ids as round 1 waits for, and
//     is nil once that round was opened.
type roster struct {
	open       bool
	ids        []string
	slots      map[string]uint32
	stored     int
	applicants []applicant
	waiting    map[string]struct{}
	retired    int
}

// An applicant is a device that waits for its slot.
type applicant struct {
	gather.Member
	token string
}

func newRoster(open bool, ids []string) (roster, error) {
	r := roster{open: open, ids: ids, slots: make(map[string]uint32, len(ids)), stored: len(ids)}
	if open {
		r.waiting = map[string]struct{}{}
	}
	for slot, id := range ids {
		if other, ok := r.slots[id]; ok {
			return r, fmt.Errorf("roster: %w: %q has slots %d and %d", runlog.ErrCorrupt, id, other,
				slot)
		}
		r.slots[id] = uint32(slot)
	}
	return r, nil
}

// find returns the member with an id.
func (r *roster) find(id string) (gather.Member, bool) {
	if r.open {
		return gather.Member{ID: id}, wire.CheckName(id) == nil
	}
	slot, ok := r.slots[id]
	return gather.Member{Slot: slot, ID: id}, ok && int(slot) < r.stored
}

// joined returns how many devices have joined; on an open roster, at most as many as round 1 waits
// for.
func (r *roster) joined() int {
	if r.open {
		return len(r.waiting)
	}
	return r.stored - r.retired
}

// join handles a request to join.
func (c *Core) join(in Input) {
	request, err := wire.DecodeJoinRequest(in.Frame)
	if err != nil || wire.CheckName(in.ID) != nil || !subjects.Answerable(in.Token) {
		c.counters.Malformed++
		return
	}
	c.counters.Joins++
	if c.N == 0 {
		return // there is no plan to send yet; the device asks again
	}
	r := &c.roster
	slot, ok := r.slots[in.ID]
	member := ok && int(slot) < r.stored
	known, says := request.Known()
	switch {
	case member && c.crowd.Members[slot].Retired:
		c.refuse(in, wire.JoinDenied, "an operator has retired this device")
		return
	case says && c.ahead(in.ID, &known):
		c.refuse(in, wire.JoinLater, c.reason)
		return
	case says && known.Plan != wire.HashRecord(c.First).Tip():
		reply := wire.JoinReply{Status: wire.JoinPlan, Last: c.N, Plan: c.First}
		c.emit(Output{Kind: OutRespond, Token: in.Token, Frame: reply.Append(nil)})
		return
	}
	if r.open {
		if r.waiting != nil && len(r.waiting) < int(c.Plan.Members) {
			r.waiting[in.ID] = struct{}{}
		}
		c.welcome(in.Token, 0)
		c.proceedToFirst()
		return
	}
	switch {
	case member:
		c.joinedAgain(gather.Member{Slot: slot, ID: in.ID})
		c.welcome(in.Token, slot)
		return
	case !ok && len(r.ids) >= c.maxMembers:
		c.refuse(in, wire.JoinFull, fmt.Sprintf("the roster has its %d members",
			c.maxMembers))
		return
	case !ok:
		slot = uint32(len(r.ids))
		r.ids = append(r.ids, in.ID)
		r.slots[in.ID] = slot
		c.emit(Output{Kind: OutMember, ID: in.ID})
	}
	r.applicants = append(r.applicants, applicant{gather.Member{Slot: slot, ID: in.ID}, in.Token})
}

// membersStored handles that the log has stored the next members, or could not.
func (c *Core) membersStored(count int, err error) {
	r := &c.roster
	if err == nil {
		for _, id := range r.ids[r.stored : r.stored+count] {
			r.stored++
			c.emitEvent(report.Event{Kind: report.Joined, ID: id, Members: uint32(r.stored)})
		}
		c.answers.Grow(r.stored)
		c.crowd.Grow(r.stored, true)
		for slot := r.stored - count; c.Rounds > 0 && slot < r.stored; slot++ {
			c.crowd.Doubt(uint32(slot))
		}
		c.returned()
	} else {
		for _, id := range r.ids[r.stored:] {
			delete(r.slots, id)
		}
		r.ids = r.ids[:r.stored]
	}
	still := r.applicants[:0]
	for _, a := range r.applicants {
		switch {
		case int(a.Slot) < r.stored:
			c.welcome(a.token, a.Slot)
		case err == nil:
			still = append(still, a)
		}
		// A device whose slot could not be stored asks again.
	}
	r.applicants = still
	c.proceedToFirst()
}

// proceedToFirst opens round 1 if it waited for the device that joined.
func (c *Core) proceedToFirst() {
	if c.End == nil && !c.paused {
		c.proceed()
	}
}

// welcome tells a device its slot and the current announcement, which it may have missed. A device
// that has answered it need not do so again.
func (c *Core) welcome(token string, slot uint32) {
	reply := wire.JoinReply{Status: wire.JoinOK, Slot: slot, Last: c.N, Plan: c.First}
	if c.announcing {
		head := c.head()
		if head.State == wire.Open && !c.roster.open {
			head.Rest = c.tail(c.reference, c.lacks(slot), true)
			c.round.calls++
		}
		if head.State == wire.Open {
			head.Rest = c.asking(head.Rest)
		}
		reply.Announcement = head.Append(nil)
	}
	c.emit(Output{Kind: OutRespond, Token: token, Frame: reply.Append(nil)})
}

// lacks names a member if its answer to the open round has not arrived.
func (c *Core) lacks(slot uint32) (m wire.Missing) {
	if c.answers.Of(gather.Member{Slot: slot}) == 0 {
		m, _ = wire.MissingOf([]uint32{slot})
	}
	return m
}

// refuse answers a device that may not join, or not now.
func (c *Core) refuse(in Input, status wire.JoinStatus, reason string) {
	reply := wire.JoinReply{Status: status, Last: c.N, Reason: reason}
	c.emit(Output{Kind: OutRespond, Token: in.Token, Frame: reply.Append(nil)})
	if status != wire.JoinLater { // that a device repeats
		c.emitEvent(report.Event{Kind: report.JoinRefused, ID: in.ID, Reason: reason})
	}
}
