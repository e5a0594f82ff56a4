package probe

import (
	"cmp"
	"fmt"
	"time"
)

// Calls are calls of the app's objective.
type Calls struct {
	Queries   uint64 // loss evaluations
	Gradients uint64 // calls of Gradient or Slope
}

func (c Calls) String() string {
	if c.Gradients > 0 {
		return fmt.Sprintf("%d gradients", c.Gradients)
	}
	return fmt.Sprintf("%d queries", c.Queries)
}

// stuckAfter is how many times its usual time a call takes that may hang.
const stuckAfter = 4

// A meter counts calls of one kind and estimates how long a call takes. Losses and gradients take
// different times, so each kind has a meter.
type meter struct {
	queries uint64        // calls so far
	pace    time.Duration // smoothed time of a call
	doubts  int           // how often doubt was called since the last call
	stuck   time.Duration // how long a given-up call ran that took much longer than usual; 0: none did
}

// duration estimates how long calls take. duration returns 0 if the device has measured no call.
func (m *meter) duration(calls uint64) time.Duration {
	return m.pace >> m.doubts * time.Duration(calls)
}

// measured is how long calls took, without doubts.
func (m *meter) measured(calls uint64) time.Duration { return m.pace * time.Duration(calls) }

// doubt halves the durations after each round that the device declined because of them. So a device
// that was slow once tries again.
func (m *meter) doubt() { m.doubts++ }

// took counts a call that took d.
func (m *meter) took(d time.Duration) {
	m.queries++
	m.pace, m.doubts, m.stuck = cmp.Or(m.pace>>m.doubts, d), 0, 0
	m.pace += (d - m.pace) / 8
}

// lasted adds to the last call the time that followed it.
func (m *meter) lasted(d time.Duration) {
	if m.queries == 1 {
		m.pace += d
	} else {
		m.pace += d / 8
	}
}

// gaveUp notes an abandoned call that counts as several queries, and took longer than d. gaveUp
// assumes that so many queries would have taken twice as long. So in the next round the device
// declines at once if the time is too short. A call that took stuckAfter times as long as usual, or
// the first, may hang.
func (m *meter) gaveUp(d time.Duration, calls int) {
	if d > stuckAfter*m.pace*time.Duration(calls) {
		m.stuck = d
	}
	m.pace, m.doubts = max(m.pace>>m.doubts, 2*d/time.Duration(1+calls)), 0
}
