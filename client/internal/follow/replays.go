package follow

import (
	"errors"
	"time"
)

// errRollbacks: the run was rolled back so often that this device waits before it replays its log
// again. A later head brings it there.
var errRollbacks = errors.New("rolled back too often")

// replays bounds how much of its time a device replays records that it had applied already, because
// the run was rolled back or its log replaced. A coordinator can make it do so as often as it
// likes. The first replays are free, and one more in each freeAgain: an operator's rollbacks cost
// no wait. After each further replay the device waits as long as that took, then twice as long,
// four times, and so on. So it replays for at most half of the time.
type replays struct {
	owed     bool // the next catch-up is a replay
	used     int  // of the free ones
	refilled time.Time
	pause    int // doublings of the next pause
	until    time.Time
}

const (
	freeReplays = 3
	freeAgain   = 20 * time.Minute
	// longestRest bounds a wait, unless the replay before took longer.
	longestRest = time.Hour
)

// rest returns how long the device waits before it replays again.
func (r *replays) rest(now time.Time) time.Duration { return max(0, r.until.Sub(now)) }

// done notes the end of a catch-up that began at a time.
func (r *replays) done(began, now time.Time) {
	if !r.owed {
		return
	}
	r.owed = false
	for r.used > 0 && now.Sub(r.refilled) >= freeAgain {
		r.used, r.refilled = r.used-1, r.refilled.Add(freeAgain)
	}
	if r.used == 0 {
		r.refilled = now
	}
	if r.used < freeReplays {
		r.used, r.pause = r.used+1, 0
		return
	}
	took := now.Sub(began)
	wait := took
	for range r.pause {
		wait = min(2*wait, max(longestRest, took))
	}
	r.pause, r.until = min(r.pause+1, 62), now.Add(wait)
}

// Rest returns how long the device waits before it starts over, for the coordinator's log was
// replaced or rolled back too often.
func (f *Follower) Rest() time.Duration { return f.replays.rest(time.Now()) }
