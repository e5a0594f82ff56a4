package engine

import (
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/runlog"
)

// The log keeps, beside its records, the pause of the run and the losses that an operator has
// accepted: so a pause outlives its coordinator. The core hands decisions to the log before it
// tells devices. While the log cannot store decisions, the coordinator acts on them all the same,
// reports that the log does not keep them, and hands them out with each announcement of the pause.

// decide hands the present decisions to the log.
func (c *Core) decide() {
	now := c.halt.Decisions
	now.Best = now.Best.Clone()
	c.halt.storing = true
	c.emit(Output{Kind: OutDecide, Decisions: &now})
}

// decisionsStored handles that the log has stored decisions, or could not store them.
func (c *Core) decisionsStored(err error) {
	c.halt.storing, c.halt.unkept = false, ""
	if err != nil {
		c.halt.unkept = err.Error()
	}
}

// decideAgain hands decisions to the log again if the log could not store them.
func (c *Core) decideAgain() {
	if c.halt.unkept != "" && !c.halt.storing {
		c.decide()
	}
}

// recall acts on the decisions of an earlier coordinator. A pause because of a claim ends if the
// log has the claimed record again, or if an operator has accepted its loss.
func (c *Core) recall() {
	p, l := c.halt.Pause, &c.claims
	if p == nil && l.loss == 0 {
		return
	}
	changed := l.loss > 0 && c.halt.Accept(runlog.Claim{N: l.began + l.loss})
	switch {
	case p == nil:
	case c.End != nil:
		c.halt.Pause = nil
	case p.Claim != nil && (c.holds(*p.Claim) || c.accepts(*p.Claim)):
		c.halt.Pause, changed = nil, true
		c.emitEvent(report.Event{Kind: report.RunResumed})
	default:
		c.emitEvent(report.Event{Kind: report.RunPaused, Reason: p.Reason})
	}
	if changed {
		c.decide()
	}
}
