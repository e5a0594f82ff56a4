package client

import "time"

// With Plan.Late a contribution still counts if its record was closed without it. So a busy device
// goes on when a later record is announced. It evaluates its loss at the state before its own
// record, which stays until Run applies the next record. It sends its reply, and then follows the
// log to the head.

// lastChance is when a device gives up the round that an announcement asks for: when it
// closes, or with Plan.Late that many more deadlines later.
func (c *Client) lastChance(a *arrival) time.Time {
	plan := c.follower.Plan()
	deadline := time.Duration(plan.Deadline) * time.Millisecond
	return a.closes.Add(time.Duration(plan.Late) * deadline)
}

// supersedes says whether an earlier announcement's contribution no longer counts once a later one
// arrives. Late contributions count for as many records as the plan's late says, and only with the
// coordinator that closed their record. Records that are no rounds count too, so this is stricter
// than necessary.
func supersedes(later, a *arrival, late uint64) bool {
	switch {
	case later.N <= a.N || later.Epoch < a.Epoch:
		return false
	case later.Epoch > a.Epoch:
		return true
	}
	return later.N-a.N > late
}
