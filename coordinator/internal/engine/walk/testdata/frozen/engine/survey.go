package engine

import (
	"github.com/zofl/zofl/coordinator/internal/engine/walk/testdata/frozen/steer"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/survey"
)

// A survey is a round that asks for losses in place of scalars: [steer.Due] says when. It has the
// cohorts, attempts, quorum and deadlines of a round, and its record is a change of the plan. What
// it asks follows from the log, so one that a crash interrupts is asked again by whoever leads
// next, and its answers, which name it, are never taken for a round's.

// surveyDue returns what the next record asks for in place of a round's scalars.
func (c *Core) surveyDue() survey.Kind {
	due := steer.Due(&c.Plan, c.Rounds)
	if due == survey.None && c.lacksSketches() {
		return survey.Sketch
	}
	return due
}

// asking adds to the tail of an announcement what the open round asks for, unless that is scalars.
func (c *Core) asking(rest []byte) []byte {
	if c.round.survey == survey.None {
		return c.vault.Tail(rest)
	}
	return survey.Ask(rest, c.round.survey)
}

// commitSurvey hands the change that follows from a survey to the log. If no value will do, the
// run pauses: the operator has to give one.
func (c *Core) commitSurvey() {
	r := &c.round
	if r.survey == survey.Sketch {
		c.takeSketches()
		return
	}
	found, change, ok := steer.Decide(&c.Plan, c.Rounds, r.survey, c.held.Rows())
	c.yield.Early = r.attempt == 0 && c.now < r.deadline
	e := changeEvent(change)
	e.Kind, e.Survey, e.Attempt = report.Surveyed, found, r.attempt
	e.Contributors, e.Seconds = found.Answers, float64(c.now-r.opened)/1000
	if !ok {
		c.phase, r.open = idle, false
		c.pause("survey of " + found.Kind + ": " + found.Why)
		return
	}
	c.append(&wire.Record{Kind: wire.KindChange, Change: change}, e)
}
