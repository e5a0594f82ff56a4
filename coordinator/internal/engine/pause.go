package engine

import (
	"errors"

	"github.com/zofl/zofl/coordinator/internal/presence"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/runlog"
)

// A run opens no round while it is paused, while it lacks devices, or while its log fails. Four
// things pause a run: an operator, a device that has records which the log lacks, a run that
// diverges, and a survey that finds no value. After such a pause, an operator has to resume the
// run, and the log keeps the pause. A lack of devices or a failing log ends by itself, and no log
// keeps it.

// A halt holds the reasons why no round is open. The log keeps the decisions: a pause, a planned
// pause, and the losses that an operator accepted.
type halt struct {
	runlog.Decisions
	storing  bool   // the log has not answered whether it has the decisions
	unkept   string // why the log does not have them
	shortage presence.Shortage
}

// halted says whether the run must not open a round although it has not ended.
func (c *Core) halted() bool {
	return c.halt.Pause != nil || c.next.trouble != "" || c.halt.shortage.Waits
}

// why returns the reason why the run is halted. A failing log comes first.
func (c *Core) why() string {
	switch {
	case c.next.trouble != "":
		return c.next.trouble
	case c.halt.Pause != nil:
		return c.halt.Pause.Reason + c.claims.also()
	}
	return c.halt.shortage.Reason
}

// pauseBy pauses the run for an operator, or plans a pause after round in.N. Either replaces an
// earlier plan.
func (c *Core) pauseBy(in Input) {
	switch p := (&runlog.Pause{Reason: in.Text, By: in.ID}); {
	case c.End != nil || c.queue.requested():
	case c.Rounds < in.N:
		p.After, c.halt.Planned = in.N, p
		c.decide()
	case c.halt.Pause == nil:
		c.halt.Planned = nil
		c.pauseFor(p)
	case c.halt.Planned != nil:
		c.halt.Planned = nil
		c.decide()
	}
}

// pause makes the run open no more rounds. The open round keeps its contributions until a change
// replaces the round. pause does nothing once an operator has requested the end. A planned pause
// stays planned.
func (c *Core) pause(reason string) { c.pauseFor(&runlog.Pause{Reason: reason}) }

func (c *Core) pauseFor(p *runlog.Pause) {
	if c.halt.Pause != nil || c.End != nil || c.queue.requested() {
		return
	}
	c.halt.Pause, c.halt.shortage = p, presence.Shortage{}
	c.decide()
	c.emitEvent(report.Event{Kind: report.RunPaused, Reason: p.Reason,
		Diverged: c.watch.why != "" && p.Reason == c.watch.why})
	if c.phase() == appending || c.phase() == failed {
		return // its outcome is announced
	}
	if !c.takeTurn() {
		c.announceClosed()
	}
}

// resume continues where pause stopped. If the log did not store a record, resume hands that record
// to the log again at once.
func (c *Core) resume() {
	if c.phase() == failed {
		c.handToLog()
	}
	switch {
	case c.halt.Pause != nil:
	case c.halt.shortage.Waits:
		c.cohort.Crowd.Pardon(c.now)
		c.announcer.on = false
		c.endShortage()
		c.round.tries = 0
		c.openAttempt(c.cohort.Attempt.Number + 1)
		return
	default:
		c.decideAgain()
		return
	}
	if c.watch.why != "" && c.halt.Pause.Reason == c.watch.why {
		c.watch.restart()
	}
	c.waive()
	c.halt.Pause = nil
	if c.pauseNext() {
		return
	}
	c.decide()
	if c.next.trouble != "" {
		return // told once the log has the record
	}
	c.announcer.on = false
	c.emitEvent(report.Event{Kind: report.RunResumed})
	switch {
	case c.phase() == collecting && c.queue.end != nil:
		c.appendEnd()
	case c.phase() == collecting && c.quorum().Closes():
		c.commitRound()
	case c.phase() == collecting:
		c.round.tries = 0
		c.openAttempt(c.cohort.Attempt.Number + 1)
	default:
		c.proceed()
	}
}

// appendFailed handles an append whose outcome is unknown: the log may or may not hold record n.
// The run halts, and the core hands out the same bytes again every Reannounce. If that cannot help,
// Run ends.
func (c *Core) appendFailed(n uint64, err error) {
	switch {
	case c.phase() != appending || n != c.N+1:
	case errors.Is(err, runlog.ErrCorrupt), errors.Is(err, runlog.ErrPlan):
		c.giveUp(err)
	default:
		c.distress("the log does not take the record: " + err.Error())
	}
}

// giveUp tells devices that the run halts, and ends Run, because an operator must repair the log.
func (c *Core) giveUp(err error) {
	c.distress("the log cannot be continued: " + err.Error())
	c.emit(Output{Kind: OutFail, Err: err})
}

// distress halts the run until the log has the pending record.
func (c *Core) distress(text string) {
	if !c.next.doubt(text, c.now+uint64(c.Plan.Reannounce)) {
		return // everybody was told
	}
	c.emitEvent(report.Event{Kind: report.RunPaused, Reason: text})
	c.announceClosed()
}

// recovered handles that the log stores records again. A pause lasts until an operator resumes the
// run.
func (c *Core) recovered() {
	if c.next.trouble == "" {
		return
	}
	c.next.trouble, c.announcer.on = "", false
	if c.halt.Pause == nil {
		c.emitEvent(report.Event{Kind: report.RunResumed})
	}
}
