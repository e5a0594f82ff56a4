package client

import (
	"time"

	"github.com/zofl/zofl/wire/secagg"
	"github.com/zofl/zofl/wire/survey"
)

// With Plan.Late a contribution still counts after its record was closed without it. A device
// that is busy when a later record is announced therefore goes on: it evaluates its loss at the
// state before its record, which changes only when Run applies the next one. It sends its reply,
// and then follows the log to the head.

// lastChance is when a device gives up the work that an announcement asks for: when the round
// closes, and with Plan.Late after as many further deadlines.
func (c *Client) lastChance(a *arrival) time.Time {
	if survey.Asked(a.Rest) != survey.None {
		return a.closes // no survey takes late answers
	}
	plan := c.follower.Plan()
	if secagg.On(plan) {
		return a.closes.Add(-unmaskTime(plan))
	}
	deadline := time.Duration(plan.Deadline) * time.Millisecond
	return a.closes.Add(time.Duration(plan.Late) * deadline)
}

// supersedes says whether a contribution that an announcement asked for no longer counts once a
// later one arrives. Late contributions count for as many records as the plan's field says, and
// only with the coordinator that closed theirs. A record that is no round makes this too strict.
func supersedes(later, a *arrival, late uint64) bool {
	switch {
	case later.N <= a.N || later.Epoch < a.Epoch:
		return false
	case later.Epoch > a.Epoch:
		return true
	}
	return later.N-a.N > late
}
