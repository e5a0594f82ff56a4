package engine

import (
	"cmp"
	"fmt"

	"github.com/zofl/zofl/coordinator/internal/presence"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// join handles a request to join.
func (c *Core) join(in Input) {
	request, err := wire.DecodeJoinRequest(in.Frame)
	if err != nil || plan.CheckName(in.ID) != nil || !subjects.Answerable(in.Token) {
		c.counters.Malformed++
		return
	}
	c.counters.Joins++
	if c.N == 0 {
		return // there is no plan to send yet; the device asks again
	}
	r := &c.cohort.Roster
	slot, ok := r.Slots[in.ID]
	member := ok && int(slot) < r.Stored
	known, more, says := request.Known()
	switch {
	case member && c.cohort.Crowd.Members[slot].Retired:
		c.refuse(in, wire.JoinDenied, "an operator has retired this device")
		return
	case says && c.ahead(in.ID, &known):
		c.refuse(in, wire.JoinLater, cmp.Or(c.why(), c.lacksRecord(in.ID, known.N)))
		return
	case says && known.Plan != wire.HashRecord(c.First).Tip():
		reply := wire.JoinReply{Status: wire.JoinPlan, Last: c.N, Plan: c.First}
		c.emit(Output{Kind: OutRespond, Token: in.Token, Frame: reply.Append(nil)})
		return
	}
	if r.Open {
		if r.Waiting != nil && len(r.Waiting) < int(c.Plan.Members) {
			r.Waiting[in.ID] = struct{}{}
		}
		c.welcome(in.Token, 0)
		c.proceedToFirst()
		return
	}
	switch {
	case member:
		c.joinedAgain(presence.Device{Slot: slot, ID: in.ID}, more)
		c.welcome(in.Token, slot)
		return
	case !ok && len(r.IDs) >= c.cohort.Most:
		c.refuse(in, wire.JoinFull, fmt.Sprintf("the roster has its %d members",
			c.cohort.Most))
		return
	case r.Apply(in.ID, in.Token):
		c.emit(Output{Kind: OutMember, ID: in.ID})
	}
}

// membersStored handles that the log has stored the next members, or could not.
func (c *Core) membersStored(count int, err error) {
	r := &c.cohort.Roster
	if err == nil {
		for i, id := range c.cohort.Joined(count) {
			members := r.Stored - count + i + 1
			c.emitEvent(report.Event{Kind: report.Joined, ID: id, Members: uint32(members)})
		}
		c.returned()
	} else {
		r.Forget()
	}
	for _, a := range r.Admitted() {
		c.welcome(a.Token, a.Slot)
	}
	c.proceedToFirst()
}

// proceedToFirst opens round 1 if that round waited for the device that joined.
func (c *Core) proceedToFirst() {
	if c.End == nil && c.halt.Pause == nil {
		c.proceed()
	}
}

// welcome tells a device its slot and the current announcement, which the device may have missed. A
// device that has answered the announcement need not answer again.
func (c *Core) welcome(token string, slot uint32) {
	reply := wire.JoinReply{Status: wire.JoinOK, Slot: slot, Last: c.N, Plan: c.First}
	if c.announcer.on {
		head := c.head()
		if head.State == wire.Open && !c.cohort.Roster.Open {
			head.Rest = c.tail(c.votes.reference, c.cohort.Lacks(slot), true)
			c.round.calls++
		}
		if head.State == wire.Open {
			head.Rest = c.asking(head.Rest)
		}
		reply.Announcement = head.Append(nil)
	}
	c.emit(Output{Kind: OutRespond, Token: token, Frame: reply.Append(nil)})
}

// refuse answers a device that may not join, or may not join now.
func (c *Core) refuse(in Input, status wire.JoinStatus, reason string) {
	reply := wire.JoinReply{Status: status, Last: c.N, Reason: reason}
	c.emit(Output{Kind: OutRespond, Token: in.Token, Frame: reply.Append(nil)})
	if status != wire.JoinLater { // that a device repeats
		c.emitEvent(report.Event{Kind: report.JoinRefused, ID: in.ID, Reason: reason})
	}
}
