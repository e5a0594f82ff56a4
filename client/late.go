package client

import "time"

// With Plan.Late a contribution still counts if the coordinator closed its record without it. So a
// busy device goes on computing when the coordinator announces a later record. The device evaluates
// its loss at the state before its own record: Run applies no record before the device has sent its
// reply. Then the device follows the log to the head.

// lastChance is when a device gives up the round that an announcement asks for. The device gives
// the round up when the round closes, or with Plan.Late that many deadlines later.
func (c *Client) lastChance(a *arrival) time.Time {
	plan := c.follower.Plan()
	deadline := time.Duration(plan.Deadline) * time.Millisecond
	return a.closes.Add(time.Duration(plan.Late) * deadline)
}

// supersedes says whether the contribution to an earlier announcement no longer counts once a later
// announcement arrives. A late contribution counts for as many records as the plan's late says, and
// only with the coordinator that closed its record. supersedes also counts records that are no
// rounds, so supersedes is stricter than necessary.
func supersedes(later, a *arrival, late uint64) bool {
	switch {
	case later.N <= a.N || later.Epoch < a.Epoch:
		return false
	case later.Epoch > a.Epoch:
		return true
	}
	return later.N-a.N > late
}
