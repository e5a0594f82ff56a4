package engine

import (
	"github.com/zofl/zofl/coordinator/internal/aggregate"
	"github.com/zofl/zofl/coordinator/internal/policy"
	"github.com/zofl/zofl/coordinator/internal/presence"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/survey"
)

// A survey is a round that asks devices for other numbers than a round's scalars. A survey has the
// cohorts, attempts, quorum and deadlines of a round. The record of a survey, if it has one, is a
// change of the plan. The log decides what a survey asks. So if a crash interrupts a survey, the
// next leader asks the same again. Answers name the survey, and the coordinator never takes them
// for a round's contributions.

// surveyDue returns the kind of survey that the next record needs, and the policy that asks, or
// survey.None for a round's scalars.
func (c *Core) surveyDue() (survey.Kind, policy.Survey) {
	if len(c.policy.Surveys) > 0 {
		c.cohort.Crowd.Sweep(c.now)
	}
	for _, s := range c.policy.Surveys {
		if kind := s.Due(c.Rounds, c.cohort.Standing(c.now)); kind != survey.None {
			return kind, s
		}
	}
	return survey.None, nil
}

// asking adds what the open round asks for to the tail of an announcement, unless the round asks
// for scalars.
func (c *Core) asking(rest []byte) []byte {
	switch {
	case c.round.survey != survey.None && c.policy.Steps != nil:
		return c.policy.Steps.Tail(survey.Ask(rest, c.round.survey))
	case c.round.survey != survey.None:
		return survey.Ask(rest, c.round.survey)
	case c.policy.Steps != nil:
		return c.policy.Steps.Tail(rest)
	}
	return rest
}

// commitSurvey acts on a survey's result: it hands a change to the log, or continues with the round
// that waited. If no value works, the run pauses, because the operator has to give a value.
func (c *Core) commitSurvey() {
	r := &c.round
	c.cohort.Rate.Early = c.cohort.Attempt.Number == 0 && c.now < r.deadline
	answers := c.chain.End.(*aggregate.Rows)
	found, change, ok := r.surveyor.Done(r.survey, c.Rounds, answers, c.cohort.Standing(c.now))
	for _, a := range found.Apart {
		if !c.cohort.Roster.Open { // which has no slots
			c.emitEvent(report.Event{Kind: report.Suspected, ID: c.cohort.Roster.IDs[a.Slot],
				Reason: a.Why})
		}
	}
	e := report.Event{Kind: report.Surveyed, Survey: found, Attempt: c.cohort.Attempt.Number,
		Contributors: found.Answers, Seconds: float64(c.now-r.opened) / 1000}
	switch {
	case !ok:
		r.open = false
		c.pause("survey of " + found.Kind + ": " + found.Why)
	case change == nil:
		r.open = false
		c.emitEvent(e)
		c.proceed()
	default:
		e.Fields = fieldsOf(change)
		c.pauseInVain(&found)
		c.append(&wire.Record{Kind: wire.KindChange, Change: change}, e)
	}
}

// pauseInVain plans a pause after the record of a survey of mu that found differences which are
// mostly error, because devices compute losses in 16 bits. No round is worth its losses then, and
// the operator can do something about it. The run goes on from `zofl resume`.
func (c *Core) pauseInVain(found *survey.Result) {
	if !found.Vain() || c.halt.Planned != nil {
		return
	}
	c.halt.Planned = &runlog.Pause{After: c.Rounds, Reason: "survey of mu: " + found.Warning +
		"; then let devices look again by `zofl change mu=auto`, give a number for mu, or go on as it " +
		"is by `zofl resume`"}
	c.decide()
}

// charges names a member whose statistics are of no data, and no longer waits for it.
func (c *Core) charges(m presence.Device, current bool) {
	if c.round.survey != survey.Columns || c.cohort.Answers.Of(m) != 0 {
		return
	}
	c.emitEvent(report.Event{Kind: report.Suspected, ID: m.ID,
		Reason: "its statistics are of no data, and do not count"})
	waited := c.cohort.Waits(m, current)
	c.cohort.Declined(m, wire.DeclinePolicy)
	c.answered(waited)
}

// searchAgain has devices look again for a value that they found, or try other points, if nobody
// can contribute.
func (c *Core) searchAgain() bool {
	if c.round.survey != survey.None || c.collected() > 0 {
		return false
	}
	for _, s := range c.policy.Surveys {
		if change := s.Again(c.cohort.Reasons[:], c.cohort.Reachable); change != nil {
			c.append(&wire.Record{Kind: wire.KindChange, Change: change}, report.Event{
				Kind: report.Changed, Fields: fieldsOf(change), Reason: "nobody could contribute" +
					c.cause() + ": devices try again"})
			return true
		}
	}
	return false
}
