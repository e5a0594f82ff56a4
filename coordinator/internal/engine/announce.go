package engine

import (
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/survey"
)

// An announcer knows when the next announcement is due, and remembers the last announcement.
type announcer struct {
	on      bool
	at      uint64 // when it is on
	last    uint64 // record of the last announcement
	compact bool   // whether announcements have the compact form if there is one
}

// announce sends an announcement, and schedules its repetition. The first announcement of a record
// brings the records since the last announcement, which is all that an up-to-date device needs.
// Later attempts carry more records, because some devices did not answer. So does a restarted
// coordinator, because it cannot know which devices have answered. While an attempt lasts, announce
// repeats the announcement with only the last record: most devices are working, and a device that
// lacks more records fetches them. Repetitions name the devices that did not answer if they are
// few.
func (c *Core) announce() {
	a := c.head()
	fresh, budget := a.N-c.announcer.last, 0
	switch {
	case c.announcer.last == 0 || c.announcer.last == a.N:
		fresh = 1
		if a.State != wire.Open || a.Left == uint64(c.Plan.Deadline) {
			budget = int(c.Plan.AnnounceBudget)
		}
		if c.announcer.last == a.N && a.State == wire.Open {
			if m, few := c.cohort.Missing(); few {
				a.Rest = c.tail(c.votes.reference, m, true)
			}
		}
	case a.N > c.votes.refersTo:
		a.Rest = c.tail(wire.Reference{}, nil, false)
	}
	switch a.State {
	case wire.Open:
		c.round.calls++
		a.Rest = c.asking(a.Rest)
	case wire.Paused:
		c.decideAgain()
	}
	if c.evaluation.N > 0 {
		c.evaluation.Ask(&c.Plan, c.N, a.Cohort)
	}
	c.announcer.on, c.announcer.last = true, a.N
	c.announcer.at = c.now + a.RepeatAfter(c.Plan.Reannounce, c.Plan.Deadline, c.cohort.Before)
	c.emit(Output{Kind: OutAnnounce, Frame: c.Recent.Frame(&a, fresh, budget, c.announcer.compact)})
}

// head returns the announcement without records: at most [wire.MaxHead] bytes, with the reference
// digest if there is one.
func (c *Core) head() wire.Announcement {
	a := wire.Announcement{
		Rest:          c.tail(c.votes.reference, nil, false),
		State:         wire.Open,
		N:             c.N + 1,
		Attempt:       c.cohort.Attempt.Number,
		Epoch:         c.life.epoch,
		Cohort:        c.cohort.Attempt.Cohort,
		StepSize:      c.Plan.StepSizeAt(c.Rounds + 1),
		Perturbations: c.Plan.PerturbationsAt(c.Rounds + 1),
	}
	if c.policy.Law != nil {
		c.policy.Law.Announce(&a)
	}
	if c.round.open && c.round.survey != survey.None {
		a.StepSize, a.Perturbations = 0, 0 // so no version takes it for a round
	}
	switch {
	case c.End != nil:
		a.State = wire.Ended
	case c.halted():
		a.State, a.Reason = wire.Paused, c.why()
	default:
		a.Left = c.round.deadline - min(c.now, c.round.deadline)
	}
	return a
}

// announceClosed announces that no round is open, and why.
func (c *Core) announceClosed() {
	if !c.round.open {
		c.cohort.Idle(c.now)
	}
	c.announce()
}
