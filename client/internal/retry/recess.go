package retry

import "time"

// A Recess is a time in which a device takes no part. A device that declines several rounds in a
// row goes into recess and tells the coordinator for how long, so that nobody waits for it. Each
// recess is twice as long as the last, and varies, so that devices do not come back in step. None
// is longer than [Pauses].Max or recessDeadlines. The zero Recess is over.
type Recess struct {
	Policy   bool          // the app's policy declined: the recess ends when it allows work again
	declines int           // since the last contribution
	bound    time.Duration // of the last recess
	until    time.Time
}

const (
	// declinesBefore is how many declines in a row a device sends before it goes into recess.
	declinesBefore = 3
	// recessDeadlines bounds a recess, in deadlines of the plan: rounds that are short are worth a
	// try sooner.
	recessDeadlines = 16
)

// Decline notes a decline, by the app's policy or not, and returns how long a recess it begins, 0
// for none.
func (r *Recess) Decline(p *Pauses, deadline time.Duration, policy bool) time.Duration {
	switch r.declines++; {
	case r.declines <= declinesBefore:
		return 0
	case r.declines == declinesBefore+1:
		r.bound = p.First()
	default:
		r.bound = p.Next(r.bound)
	}
	r.bound = min(r.bound, recessDeadlines*deadline)
	r.Policy = policy
	pause := r.bound/2 + p.Jitter(max(r.bound/2, 1))
	r.until = time.Now().Add(pause)
	return pause
}

// Lasts says whether the device is in recess.
func (r *Recess) Lasts() bool { return time.Now().Before(r.until) }

// End ends the recess.
func (r *Recess) End() { r.until = time.Time{} }
