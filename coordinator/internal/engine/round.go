package engine

import (
	"github.com/zofl/zofl/coordinator/internal/policy"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/plan/dp"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/survey"
)

// A round is the state of record N+1 while it collects replies.
type round struct {
	open     bool // it was announced
	opened   uint64
	deadline uint64 // of the current attempt
	closes   uint64 // when it closes, at the latest at its deadline
	quorate  uint64 // milliseconds that its quorum took, where grace is set
	grace    uint64 // when to look whom it waits for, where it has its quorum; 0: not
	skips    uint32 // records in a row that could not be made
	calls    uint32 // announcements
	tries    uint32 // attempts since the last Resume

	survey        survey.Kind   // what it asks for in place of a round's scalars
	surveyor      policy.Survey // which asks for it
	phase         uint8         // of its record, see wire.Round
	step, factor  float32
	perturbations uint32
	scalars       int          // of a contribution
	losses        []float32    // of contributions
	rise          float32      // of their mean, see policy.Losses
	choice        report.Event // with groups=auto: what follows from it, if Survey.Why says so
	lost          string       // secure aggregation: the step in which the last attempt was lost
}

// openRound begins the next round.
func (c *Core) openRound() {
	c.cohort.Next()
	c.endShortage()
	number := c.Rounds + 1
	kind, surveyor := c.surveyDue()
	c.round = round{
		open:          true,
		skips:         c.round.skips,
		losses:        c.round.losses[:0],
		opened:        c.now,
		survey:        kind,
		surveyor:      surveyor,
		phase:         c.Due(),
		step:          c.Plan.StepSizeAt(number),
		factor:        c.Plan.FactorAt(number),
		perturbations: c.Plan.PerturbationsAt(number),
	}
	c.prepare()
	c.openAttempt(0)
}

// openAttempt asks devices for contributions. Some surveys ask all members. A run with roots asks
// all members too, because no round closes without a root's contribution.
func (c *Core) openAttempt(number uint32) {
	r, k := &c.round, &c.cohort
	scalars := r.survey == survey.None
	k.Ask(number, !scalars && r.surveyor.All() || c.chain.Rooted(), scalars, c.now)
	c.poll()
	r.tries++
	r.deadline = c.now + uint64(c.Plan.Deadline)
	r.closes, r.grace = r.deadline, 0
	if c.vectors != nil {
		c.vectors.By = r.deadline
	}
	if c.policy.Steps != nil {
		c.openSteps()
	}
	k.Await(c.chain.Taken)
	c.announce()
	if !k.Roster.Open && (k.Pending == 0 || c.hopeless()) {
		c.settle()
	}
}

// closeAttempt commits the round if the round has its quorum. Otherwise the run asks another
// cohort. After MaxAttempts, or if too few devices are present, the run waits for devices to come
// back.
func (c *Core) closeAttempt() {
	if c.now >= c.round.closes || c.round.graceIsOver(c.now) {
		c.missed()
	}
	switch {
	case c.exploded():
		if !c.searchAgain() {
			c.diverged()
		}
	case c.stepping() && c.stepOver():
	case c.quorum().Enough():
		c.commitRound()
	case c.spent():
		c.skip()
	case c.searchAgain():
	case c.round.tries >= c.Plan.MaxAttempts, c.tooFew():
		c.runShort()
	default:
		c.cause()
		c.openAttempt(c.cohort.Attempt.Number + 1)
	}
}

// commitRound hands the record of the round, or of one of its phases, to the log.
func (c *Core) commitRound() {
	c.endShortage()
	c.round.skips = 0
	r := &c.round
	if r.survey != survey.None {
		c.commitSurvey()
		return
	}
	c.chain.Close()
	c.joinLate()
	contributors, weight := c.counts()
	loss := c.chain.Loss.Over(weight, c.Plan.ClaimBound > 0)
	c.cohort.Rate.Early = c.cohort.Attempt.Number == 0 && c.now < r.deadline
	body := c.body()
	e := report.Event{
		Kind:          report.RoundDone,
		Attempt:       c.cohort.Attempt.Number,
		Contributors:  contributors,
		Asked:         c.cohort.Asked(),
		Declines:      c.cohort.Answers.Declines,
		Late:          c.late.Joining.Count,
		Loss:          loss + r.rise,
		Seconds:       float64(c.now-r.opened) / 1000,
		Step:          c.Plan.StepSize,
		RoundStep:     body.StepSize,
		Perturbations: r.perturbations,
	}
	if c.Plan.DPClip > 0 {
		e.Privacy = dp.Spent(&c.Plan, c.N+1)
	}
	if r.phase == 1 {
		e.Kind = report.PhaseDone
	} else if c.watch.last = e; c.cohort.Roster.Open {
		c.watch.asked = c.cohort.AskedAbout()
	}
	c.append(&wire.Record{Kind: wire.KindRound, Round: body}, e)
}
