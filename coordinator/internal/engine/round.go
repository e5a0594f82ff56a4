package engine

import (
	"math"

	"github.com/zofl/zofl/coordinator/internal/gather"
	"github.com/zofl/zofl/coordinator/internal/policy"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/plan/dp"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/survey"
)

// A round is the state of record N+1 while it collects replies.
type round struct {
	open      bool // it was announced
	opened    uint64
	asked     uint64 // when the current attempt was announced first
	deadline  uint64 // of the current attempt
	closes    uint64 // when it closes, at the latest at its deadline
	quorate   uint64 // milliseconds that its quorum took, where grace is set
	grace     uint64 // when to look whom it waits for, where it has its quorum; 0: not
	serial    uint32 // of the current attempt, over all rounds of this coordinator
	skips     uint32 // records in a row that could not be made
	calls     uint32 // announcements
	attempt   uint32
	tries     uint32        // attempts since the last Resume
	cohort    wire.Cohort   // of the current attempt
	attempts  []Attempt     // all attempts, the current one last
	pending   uint32        // devices of a listed roster's cohort that it waits for
	reachable uint32        // those, and contributions, when the current attempt began
	kept      []wire.Cohort // which its attempts ask before they ask others

	survey        survey.Kind   // what it asks for in place of a round's scalars
	surveyor      policy.Survey // which asks for it
	phase         uint8         // of its record, see wire.Round
	step, factor  float32
	perturbations uint32
	scalars       int          // of a contribution
	losses        []float32    // of contributions
	choice        report.Event // with groups=auto: what follows from it, if Survey.Why says so
	lost          string       // secure aggregation: the step in which the last attempt was lost
	declines      [8]uint32    // in the current attempt, by reason; 0 for unknown reasons
}

// current is the attempt that is open.
func (r *round) current() Attempt { return r.attempts[len(r.attempts)-1] }

// openRound begins the next round.
func (c *Core) openRound() {
	c.cohort.next()
	c.endShortage()
	number := c.Rounds + 1
	kind, surveyor := c.surveyDue()
	c.round = round{
		open:          true,
		kept:          c.keptCohorts(),
		serial:        c.round.serial,
		skips:         c.round.skips,
		losses:        c.round.losses[:0],
		opened:        c.now,
		attempts:      c.round.attempts[:0],
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

// keptCohorts returns the cohorts that the next round asks again, by attempt. They are the cohorts
// of the round before, if both are phases of one round for which the plan draws once. So the second
// phase asks the same devices as the first, even if devices joined or left since. A coordinator
// that restarted in between knows no cohorts: it asks the usual number, from the same draw.
func (c *Core) keptCohorts() (list []wire.Cohort) {
	draw := c.Plan.Draw(c.N+1, c.Point.N)
	for _, a := range c.round.attempts {
		if draw <= c.N && draw == a.Draw {
			list = append(list, a.Cohort)
		}
	}
	return list
}

// openAttempt asks a cohort for contributions.
func (c *Core) openAttempt(number uint32) {
	r := &c.round
	a := c.choose(number)
	r.attempt, r.cohort = number, a.Cohort
	r.attempts = append(r.attempts, a)
	c.poll(a)
	r.tries++
	r.serial++
	r.asked = c.now
	r.deadline = c.now + uint64(c.Plan.Deadline)
	r.closes, r.grace = r.deadline, 0
	c.vectors.uploads.By = r.deadline
	if c.policy.Steps != nil {
		c.openSteps()
	}
	r.declines = [len(r.declines)]uint32{}
	c.cohort.answers.Forgive()
	if c.cohort.roster.Open {
		r.reachable = uint32(c.want())
		if number == 0 {
			c.cohort.rate.Begin(r.cohort.Sampled)
		}
	} else {
		r.pending = c.awaited()
		r.reachable = r.pending + c.chain.Taken
	}
	c.announce()
	if !c.cohort.roster.Open && (r.pending == 0 || c.hopeless()) {
		c.settle()
	}
}

// draw returns the devices that an attempt asks. Attempts are counted on after Resume, and the
// cohort grows on. A cohort that the round keeps is asked as it was.
func (c *Core) draw(attempt uint32) wire.Cohort {
	if int(attempt) < len(c.round.kept) {
		return c.round.kept[attempt]
	}
	if c.cohort.roster.Open {
		return wire.Cohort{Sampled: c.cohort.rate.Ask(c.want(), attempt)}
	}
	c.cohort.crowd.Sweep(c.now)
	all := c.cohort.crowd.Cohort(c.Plan.Sampled(uint32(c.cohort.roster.Stored)), attempt)
	if c.policy.Steps == nil {
		return all
	}
	return c.policy.Steps.Fit(all, c.N+1, attempt, c.cohort.crowd.IsAbsent)
}

// want is how many answers of an open roster an attempt aims at.
func (c *Core) want() uint64 {
	return uint64(c.Plan.Sampled(math.MaxUint32))
}

// asked says whether an attempt asks a member.
func (c *Core) asked(a Attempt, m gather.Member) bool {
	return a.Asks(c.Plan.Run, m.Slot, m.ID)
}

// closeAttempt commits the round if it has its quorum. Otherwise it asks another cohort, or waits
// for devices to come back: after MaxAttempts, or where too few are present.
func (c *Core) closeAttempt() {
	if c.now >= c.round.closes || c.round.graceIsOver(c.now) {
		c.missed()
	}
	switch {
	case c.exploded():
		c.pause(c.watch.why)
	case c.stepping() && c.stepOver():
	case c.quorum().Enough():
		c.commitRound()
	case c.spent():
		c.skip()
	case c.round.tries >= c.Plan.MaxAttempts, c.tooFew():
		c.runShort()
	default:
		c.openAttempt(c.round.attempt + 1)
	}
}

// commitRound hands the record of the round, or of its phase, to the log.
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
	c.cohort.rate.Early = r.attempt == 0 && c.now < r.deadline
	kind := report.PhaseDone
	if r.phase != 1 {
		kind = report.RoundDone
		c.watch.last = loss
	}
	c.observe()
	body := c.body()
	e := report.Event{
		Kind:          kind,
		Attempt:       r.attempt,
		Contributors:  contributors,
		Asked:         c.cohort.members(r.cohort.Sampled),
		Declines:      c.cohort.answers.Declines,
		Late:          c.lateWork.Joining.Count,
		Loss:          loss,
		Seconds:       float64(c.now-r.opened) / 1000,
		Step:          r.step,
		Perturbations: r.perturbations,
	}
	if c.Plan.DPClip > 0 {
		e.Privacy = dp.Spent(&c.Plan, c.N+1)
	}
	c.append(&wire.Record{Kind: wire.KindRound, Round: body}, e)
}
