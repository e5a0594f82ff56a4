package follow

import (
	"errors"
	"time"
)

// errRollbacks says that the run rolled back so often that this device waits before it replays its
// log again. After the wait, the device replays the log when the next head arrives.
var errRollbacks = errors.New("rolled back too often")

// replays bounds how much time a device spends on replaying records that it had applied already,
// because the run rolled back or another log replaced the run's log. Without a bound, a coordinator
// could make the device replay all the time. After the first freeReplays replays the device need
// not wait, and every freeAgain allows one more: so an operator's rollbacks cost no wait. After
// each further replay the device waits: first as long as the replay took, then twice as long, four
// times as long, and so on. So the device replays for at most half of the time.
type replays struct {
	owed     bool // the next catch-up is a replay
	used     int  // replays without a wait, at most freeReplays
	refilled time.Time
	pause    int // how often the next pause is doubled
	until    time.Time
}

const (
	freeReplays = 3
	freeAgain   = 20 * time.Minute
	// longestRest bounds a wait, unless the replay before the wait took longer.
	longestRest = time.Hour
)

// rest returns how long the device waits before it replays again.
func (r *replays) rest(now time.Time) time.Duration { return max(0, r.until.Sub(now)) }

// done notes the end of a catch-up that began at a given time.
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

// Rest returns how long the device waits before it starts over, if the coordinator's log was
// replaced or rolled back too often.
func (f *Follower) Rest() time.Duration { return f.replays.rest(time.Now()) }
