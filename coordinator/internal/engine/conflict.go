package engine

import (
	"bytes"

	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/wire"
)

// conflict handles that the log already has another record. The log decides, so the core
// continues from the stored record. The core gives up only for a coordinator that began later.
func (c *Core) conflict(in Input) {
	n, stored := in.N, in.Frame
	if c.phase() != appending || n != c.N+1 {
		return
	}
	if bytes.Equal(stored, c.next.frame) {
		c.appended(n)
		return
	}
	if r, err := wire.DecodeRecord(stored); err == nil && r.Epoch > c.life.epoch {
		c.depose()
		return
	}
	if err := c.adopt(stored, in.Handover); err != nil {
		c.giveUp(err)
	}
}

// adopt replaces the pending record by another coordinator's record. The open round's contributions
// are lost; an operator's request stays in the queue. handover is what that coordinator handed
// over.
//
// Errors match [runlog.ErrCorrupt], or [runlog.ErrPlan] if the record begins another run.
func (c *Core) adopt(stored, handover []byte) error {
	configured := c.Plan
	if c.N == 0 {
		r, err := wire.DecodeRecord(stored)
		if err == nil && r.Kind == wire.KindPlan {
			if err := runlog.SamePlan(r.Plan, &configured); err != nil {
				return err
			}
		}
	}
	r, err := c.move(stored)
	if err != nil {
		return err
	}
	c.takeOver(handover)
	c.counters.Adopted++
	c.recovered()
	c.emitEvent(report.Event{Kind: report.Adopted, Record: r.Kind, Epoch: r.Epoch})
	switch r.Kind {
	case wire.KindChange:
		c.emitEvent(changeEvent(r.Change))
	case wire.KindRollback:
		c.emitEvent(report.Event{Kind: report.RolledBack, To: r.To})
	case wire.KindEnd:
		c.emitEvent(report.Event{Kind: report.RunEnded, End: *r.End})
	}
	c.committed()
	return nil
}

// depose stops this core for good: the core emits no further outputs.
func (c *Core) depose() {
	c.life.deposed, c.announcer.on = true, false
	c.emit(Output{Kind: OutFail, Err: runlog.ErrDeposed})
}
