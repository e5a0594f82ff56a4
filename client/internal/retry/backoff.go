package retry

import "time"

// A Backoff is a time in which a device takes no part. A device that declines several rounds in a
// row goes into backoff and tells the coordinator for how long, so that no round waits for it. Each
// backoff is twice as long as the last, and varies, so that devices do not come back in step. None
// is longer than [Pauses].Max or backoffDeadlines. The zero Backoff is over.
type Backoff struct {
	Policy   bool          // the app's policy declined: the backoff ends when it allows work again
	declines int           // since the last contribution
	bound    time.Duration // of the last backoff
	until    time.Time
}

const (
	// declinesBefore is how many declines in a row a device sends before it goes into backoff.
	declinesBefore = 3
	// backoffDeadlines bounds a backoff, in deadlines of the plan: rounds that are short are worth a
	// try sooner.
	backoffDeadlines = 16
)

// Decline notes a decline, by the app's policy or not, and returns how long a backoff it begins, 0
// for none.
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
