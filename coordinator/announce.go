package coordinator

import (
	"github.com/zofl/zofl/wire"
)

// announce says what the run is doing, and when to say it again. The first
// announcement of a record brings the records that none brought before, which
// is all that a device needs that keeps up; later ones follow because somebody
// did not answer, and a restarted coordinator cannot know.
func (c *core) announce() {
	a := c.head()
	fresh, budget := a.N-c.announced, 0
	if c.announced == 0 || c.announced == a.N {
		fresh, budget = 1, int(c.Plan.AnnounceBudget)
	} else if a.N > c.refersTo {
		a.Rest = nil
	}
	a.Records = c.recent.Within(fresh, budget)
	c.askEvaluators(a.Cohort)
	c.announcing, c.announced = true, a.N
	c.announceAt = c.now + uint64(c.Plan.Reannounce)
	c.emit(output{kind: outAnnounce, frame: a.Append(nil)})
}

// head returns what there is to announce, without records: at most
// [wire.MaxHead] bytes, with the reference if there is one.
func (c *core) head() wire.Announcement {
	a := wire.Announcement{
		Rest:          c.reference.Append(nil),
		State:         wire.Open,
		N:             c.N + 1,
		Attempt:       c.round.attempt,
		Epoch:         c.epoch,
		Cohort:        c.round.cohort,
		Step:          c.Plan.StepAt(c.Rounds + 1),
		Perturbations: c.Plan.PerturbationsAt(c.Rounds + 1),
	}
	if c.reference.N == 0 {
		a.Rest = nil
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

// announceClosed says that no round is open, and why.
func (c *core) announceClosed() {
	if !c.round.open {
		// Who evaluates is drawn among these; no attempt has this cohort.
		c.round.attempt, c.round.cohort = 0, c.cohort(0)
	}
	c.announce()
}
