package engine

import (
	"github.com/zofl/zofl/coordinator/internal/gather"
	"github.com/zofl/zofl/wire"
)

// leastGrace is the least time that the doubtful have after the quorum, in milliseconds.
const leastGrace = 25

// A round that has its quorum waits for who may be relied on until its deadline, and for the
// doubtful half as long again as the quorum took. So silent members cost a grace, and not a
// deadline each time.

// grants gives the doubtful their time, once there is a quorum.
func (c *Core) grants() {
	r := &c.round
	if r.grace == 0 && c.crowd.Doubtful() > 0 && c.enough() {
		r.grace = c.now + max((c.now-r.asked)/2, leastGrace)
	}
}

func (r *round) graceIsOver(now uint64) bool { return r.grace > 0 && now >= r.grace }

// ends returns when something is to be done about the attempt.
func (r *round) ends() uint64 {
	if r.grace > 0 {
		return min(r.grace, r.closes)
	}
	return r.closes
}

// goesOn says whether an attempt whose grace is over waits for somebody who may be relied on. Then
// it looks again later.
func (c *Core) goesOn() bool {
	r := &c.round
	if c.now >= r.closes {
		return false
	}
	for slot := range c.slotsAsked() {
		if !c.crowd.Members[slot].Doubtful() && c.waitsFor(gather.Member{Slot: slot}, true) {
			r.grace = c.now + max((c.now-r.asked)/2, leastGrace)
			return true
		}
	}
	return false
}

// redeem notes that a member answers the open record, or late the one before. What is of another
// state is no answer.
func (c *Core) redeem(m gather.Member, r *wire.Reply) {
	answers := r.Kind == wire.Contribution || r.Kind == wire.Decline
	if !c.roster.Open && answers && c.timely(r.N, r.Tip) {
		c.crowd.Redeem(m.Slot, r.N)
	}
}

// timely says whether a message is about the record that is being made, or the one before.
func (c *Core) timely(n uint64, tip wire.Tip) bool {
	return n == c.N+1 && tip == c.Hash.Tip() || n == c.N && tip == c.prev
}
