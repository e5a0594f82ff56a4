package engine

import (
	"github.com/zofl/zofl/coordinator/internal/gather"
	"github.com/zofl/zofl/coordinator/internal/presence"
	"github.com/zofl/zofl/wire"
)

// leastGrace is the least time that doubtful devices get after the quorum, in milliseconds. A round
// with a quorum waits for reliable members at least leastQuorums times as long as the quorum took,
// and at least a leastPart-th of the deadline.
const leastGrace, leastQuorums, leastPart = 25, 3, 8

// For doubtful members it waits half as long again as the quorum took. For a reliable member it
// waits some times as long as the member usually takes. So a silent member costs a short wait, or
// part of a deadline, but not a deadline each time.

// grants gives the members that have not answered their time, once there is a quorum.
func (c *Core) grants() {
	if r := &c.round; r.grace == 0 && c.quorum().Enough() {
		r.quorate = c.now - r.asked
		c.lookAgain()
	}
}

// lookAgain sets the time when the attempt decides anew for which devices it waits.
func (c *Core) lookAgain() {
	c.round.grace = c.now + max((c.now-c.round.asked)/2, leastGrace)
}

func (r *round) graceIsOver(now uint64) bool { return r.grace > 0 && now >= r.grace }

// ends returns the time of the next decision about the attempt.
func (r *round) ends() uint64 {
	if r.grace > 0 {
		return min(r.grace, r.closes)
	}
	return r.closes
}

// goesOn says whether an attempt whose short wait is over still waits: for a reliable member that
// is not overdue. Then it looks again later.
func (c *Core) goesOn() bool {
	if c.now >= c.round.closes {
		return false
	}
	for slot := range c.slotsAsked() {
		if c.waitsFor(gather.Member{Slot: slot}, true) && c.relies(&c.cohort.crowd.Members[slot]) {
			c.lookAgain()
			return true
		}
	}
	return false
}

// relies says whether an attempt with a quorum still counts on a member for which it waits. Vectors
// and the steps of secure aggregation have until the deadline: they take longer than an answer.
func (c *Core) relies(p *presence.Member) bool {
	if c.transport.vectors() || c.stepping() {
		return !p.Doubtful()
	}
	least := max(leastQuorums*c.round.quorate, uint64(c.Plan.Deadline)/leastPart)
	return p.Relied(c.now-c.round.asked, least)
}

// redeem notes that a member answered the open record or the record before. A message about another
// state is no answer.
func (c *Core) redeem(m gather.Member, r *wire.Reply) {
	answers := r.Kind == wire.Contribution || r.Kind == wire.Decline
	if !c.cohort.roster.Open && answers && c.timely(r.N, r.Tip) {
		c.cohort.crowd.Redeem(m.Slot, r.N)
	}
}

// timely says whether a message is about the open record or the record before.
func (c *Core) timely(n uint64, tip wire.Tip) bool {
	return n == c.N+1 && tip == c.Hash.Tip() || n == c.N && tip == c.prev
}
