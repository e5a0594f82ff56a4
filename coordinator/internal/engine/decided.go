package engine

import (
	"slices"

	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/runlog"
)

// The log keeps, beside its records, the pause of the run and the losses that an operator has
// accepted: so a pause outlives its coordinator. The core hands decisions to the log before it
// tells devices. While the log cannot store decisions, the coordinator acts on them all the same,
// reports that the log does not keep them, and hands them out with each announcement of the pause.

// decided holds the decisions, and whether the log has stored them.
type decided struct {
	paused   *runlog.Pause    // when this coordinator began
	planned  *runlog.Pause    // nil: no pause is planned
	accepted runlog.Decisions // Accepted alone
	storing  bool             // the log has not answered
	unkept   string           // why the log does not have it
}

// decide hands the present decisions to the log.
func (c *Core) decide() {
	d := &c.decided
	now := runlog.Decisions{Pause: c.halt.paused, Planned: d.planned,
		Accepted: slices.Clone(d.accepted.Accepted)}
	d.storing = true
	c.emit(Output{Kind: OutDecide, Decisions: &now})
}

// decisionsStored handles that the log has stored decisions, or could not store them.
func (c *Core) decisionsStored(err error) {
	c.decided.storing, c.decided.unkept = false, ""
	if err != nil {
		c.decided.unkept = err.Error()
	}
}

// decideAgain hands decisions to the log again if the log could not store them.
func (c *Core) decideAgain() {
	if c.decided.unkept != "" && !c.decided.storing {
		c.decide()
	}
}

// planPause plans a pause after a round, for an operator.
func (c *Core) planPause(in Input) {
	c.decided.planned = &runlog.Pause{Reason: in.Text, By: in.ID, After: in.N}
	c.decide()
}

// Planned returns the pause that an operator planned, or nil if there is none.
func (c *Core) Planned() *runlog.Pause { return c.decided.planned }

// recall restores the decisions of an earlier coordinator. A pause because of a claim ends if the
// log has the claimed record again, or if an operator has accepted its loss.
func (c *Core) recall() {
	d, l := &c.decided, &c.claims
	if d.paused == nil && d.planned == nil && l.loss == 0 {
		return
	}
	changed := l.loss > 0 && d.accepted.Accept(runlog.Claim{N: l.began + l.loss})
	p := d.paused
	if due := d.planned; p == nil && due != nil && c.Rounds >= due.After {
		p, d.planned = due, nil
	}
	switch {
	case c.End != nil || p == nil:
	case p.Claim != nil && (c.holds(*p.Claim) || c.accepts(*p.Claim)):
		changed = true
		c.emitEvent(report.Event{Kind: report.RunResumed})
	default:
		c.halt.paused = p
		c.emitEvent(report.Event{Kind: report.RunPaused, Reason: p.Reason})
	}
	if changed {
		c.decide()
	}
}
