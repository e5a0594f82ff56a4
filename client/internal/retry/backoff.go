package retry

import "time"

// A Backoff is a time in which a device takes no part. A device that declines several rounds in a
// row goes into backoff. The device tells the coordinator for how long, so that no round waits for
// the device. Each backoff is about twice as long as the last one, and varies, so that devices do
// not come back at the same time. No backoff is longer than [Pauses].Max or backoffDeadlines. The
// zero Backoff is over.
type Backoff struct {
	Policy   bool          // the app's policy declined: it may end the backoff
	declines int           // number of declines since the last contribution
	bound    time.Duration // bound of the last backoff
	until    time.Time
}

const (
	// declinesBefore is how many declines in a row a device sends before it goes into backoff.
	declinesBefore = 3
	// backoffDeadlines bounds a backoff, in deadlines of the plan. If rounds are short, a device may
	// try again sooner.
	backoffDeadlines = 16
)

// Decline notes a decline. policy says whether the app's policy declined. Decline returns how long
// a backoff begins now; 0: none.
func (b *Backoff) Decline(p *Pauses, deadline time.Duration, policy bool) time.Duration {
	switch b.declines++; {
	case b.declines <= declinesBefore:
		return 0
	case b.declines == declinesBefore+1:
		b.bound = p.First()
	default:
		b.bound = p.Next(b.bound)
	}
	b.bound = min(b.bound, backoffDeadlines*deadline)
	b.Policy = policy
	pause := b.bound/2 + p.Jitter(max(b.bound/2, 1))
	b.until = time.Now().Add(pause)
	return pause
}

// Lasts says whether the device is in backoff.
func (b *Backoff) Lasts() bool { return time.Now().Before(b.until) }

// End ends the backoff.
func (b *Backoff) End() { b.until = time.Time{} }
