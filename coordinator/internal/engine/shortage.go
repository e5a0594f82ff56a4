package engine

import (
	"cmp"
	"fmt"
	"math"

	"github.com/zofl/zofl/coordinator/internal/presence"
	"github.com/zofl/zofl/coordinator/report"
)

// forever is a time that never comes.
const forever = math.MaxUint64

// runShort waits for devices to come back. The attempt keeps its contributions, and replies to it
// still count. An operator's request that came while the attempt was open does not wait.
func (c *Core) runShort() {
	s := &c.halt.shortage
	s.Wait(c.now, uint64(c.Plan.Reannounce), c.shortfall())
	if at := c.cohort.BackBy(c.collected(), c.now); at > c.now {
		s.RetryAt = min(s.RetryAt, c.soonest(at))
	}
	switch {
	case s.Spells == 1:
		c.emitEvent(report.Event{Kind: report.RunPaused, Reason: s.Reason})
	case s.Reminds():
		c.emitEvent(report.Event{Kind: report.StillPaused, Reason: s.Reason + "; " + c.waitsText(),
			Seconds: float64(c.now-s.Began) / 1000})
	}
	if !c.takeTurn() {
		c.announceClosed()
	}
}

// soonest returns at, or the earliest time at which the run may ask again, whichever is later. So
// the run makes a pause before it asks devices again that come back and then decline.
func (c *Core) soonest(at uint64) uint64 {
	return max(at, c.halt.shortage.Since+c.pauseOf(c.halt.shortage.Spells, uint64(c.Plan.Reannounce)))
}

// lacking returns how many devices the round needs for its quorum in addition to the present
// devices.
func (c *Core) lacking() int { return c.cohort.Lacking(c.collected()) }

// returned handles that a member joined or came back.
func (c *Core) returned() {
	if s := &c.halt.shortage; s.Waits && c.lacking() <= 0 {
		s.RetryAt = min(s.RetryAt, c.soonest(c.now))
	}
}

// reopen asks devices again. The run makes only one attempt, unless enough devices seem to be
// present. If too few devices are present, reopen makes rounds wait once more for silent devices.
func (c *Core) reopen() {
	c.halt.shortage.Cause = c.cause() // devices may have declined since, and know more now
	c.halt.shortage.Waits, c.announcer.on = false, false
	c.cohort.Crowd.Sweep(c.now)
	c.round.tries = 0
	if c.lacking() > 0 {
		c.cohort.Crowd.Pardon(c.now)
		c.round.tries = c.Plan.MaxAttempts - 1
	}
	c.openAttempt(c.cohort.Attempt.Number + 1)
}

// endShortage notes that the run has the devices that it needs.
func (c *Core) endShortage() {
	if c.halt.shortage.Spells > 0 {
		c.emitEvent(report.Event{Kind: report.RunResumed})
	}
	c.halt.shortage = presence.Shortage{}
}

// due returns when the open attempt closes, or when a run that lacks devices asks again.
func (c *Core) due() uint64 {
	switch {
	case c.halt.Pause != nil:
		return forever
	case c.halt.shortage.Waits:
		return c.halt.shortage.RetryAt
	}
	return c.round.ends()
}

// closeOrReopen closes the open attempt, or asks devices again after a shortage.
func (c *Core) closeOrReopen() {
	if c.halt.shortage.Waits {
		c.reopen()
	} else if !c.goesOn() {
		c.closeAttempt()
	}
}

// waitsText says for which devices a run waits that has not begun round 1, or that lacks a quorum.
func (c *Core) waitsText() string {
	switch {
	case c.End != nil || c.halt.Pause != nil:
		return ""
	case c.halt.shortage.Waits:
		return c.cohort.Crowd.Lacks(&c.Plan)
	case !c.waiting():
		return ""
	}
	return c.cohort.Roster.Awaits(&c.Plan)
}

// settle handles an attempt that has no device left to wait for. Without a quorum the attempt
// closes at once if the next attempt asks other devices. If the attempt asked all members, or if
// some devices declined, the attempt stays open for a while: asking the same devices again at once
// would change nothing.
func (c *Core) settle() {
	r, k := &c.round, &c.cohort.Attempt.Cohort
	switch {
	case c.halt.Pause != nil || c.halt.shortage.Waits:
	case c.quorum().Enough(), c.cohort.Answers.Declines == 0 && !c.askedAll() &&
		k.Sampled < uint64(k.Members):
		c.closeAttempt()
	default:
		r.closes = min(r.deadline, c.now+c.pauseOf(r.tries, uint64(c.Plan.Reannounce)))
	}
}

// askedAll says whether the run has asked every device that could take part, so that another
// attempt can ask no other device.
func (c *Core) askedAll() bool {
	p := &c.policy
	return p.Groups != nil && p.Groups.All() || p.Steps != nil && p.Steps.Saturated()
}

// tooFew says whether another attempt is useless because too few devices are present.
func (c *Core) tooFew() bool {
	return c.policy.Steps != nil && c.policy.Steps.TooFew(c.cohort.Crowd.Present())
}

// shortfall says why the run pauses.
func (c *Core) shortfall() string {
	r, k := &c.round, &c.cohort
	text := fmt.Sprintf("record %d: %d contributed in %s, quorum %d",
		c.N+1, c.collected(), presence.Count(r.tries, "attempt"), c.Plan.Quorum)
	if !c.chain.Vouched() {
		text += fmt.Sprintf(", and none of the roots %v", c.Plan.Roots)
	}
	if !k.Roster.Open {
		text += fmt.Sprintf("; %d of %s asked, %d present", k.Asked(),
			presence.Count(k.Attempt.Cohort.Members, "member"), k.Crowd.Present())
	}
	if r.lost != "" {
		text += "; too few were left in the step " + r.lost
	}
	return text + c.cause()
}

// cause returns why devices declined in this attempt, or else in the first attempt at this record
// in which some declined. The core keeps that reason, because these devices may be gone when the
// run asks again.
func (c *Core) cause() string {
	why, s := c.cohort.Answers.Why(c.cohort.Reasons[:]), &c.halt.shortage
	s.Cause = cmp.Or(s.Cause, why)
	return cmp.Or(why, s.Cause)
}
