package engine

import (
	"fmt"

	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/wire"
)

// append hands the next record to the log. closed is the event to emit once the log has stored it.
func (c *Core) append(r *wire.Record, closed report.Event) {
	r.N, r.Prev, r.Epoch = c.N+1, c.Hash, c.life.epoch
	if r.N == 1 {
		r.Prev = wire.Genesis(c.Plan.Run)
	}
	c.next.frame, c.next.event = r.Append(nil), closed
	if c.vectors != nil {
		c.vectors.Reset()
	}
	c.handToLog()
}

// handToLog hands the pending record to the log, for the first time or again. While the log fails,
// announcements keep saying that it fails.
func (c *Core) handToLog() {
	c.next.doubtful = false
	c.announcer.on = c.announcer.on && c.next.trouble != ""
	if c.policy.Knows != nil {
		c.handOver()
	}
	c.emit(Output{Kind: OutAppend, N: c.N + 1, Frame: c.next.frame, Object: c.next.object})
}

// appended handles that the log has stored record n.
func (c *Core) appended(n uint64) {
	if c.phase() != appending || n != c.N+1 {
		return
	}
	closed, fromQueue := c.next.event, c.next.asked
	if _, err := c.move(c.next.frame); err != nil {
		panic("coordinator: internal error: " + err.Error())
	}
	if fromQueue {
		c.queue.records = c.queue.records[1:]
	}
	c.recovered()
	if closed.Kind != 0 {
		c.emitEvent(closed)
	}
	if closed.Kind == report.RoundDone && c.round.choice.Survey.Why != "" {
		c.emitEvent(c.round.choice)
	}
	c.committed()
}

// move moves the position past a record that the log has stored.
func (c *Core) move(record []byte) (wire.Record, error) {
	r, err := c.Apply(record)
	if err != nil {
		return r, err
	}
	c.Remember(record, c.Hash.Tip())
	c.next.stored()
	c.round.open = false
	c.tell(record, r)
	return r, nil
}

// committed continues after the log has stored the last record.
func (c *Core) committed() {
	if c.evaluation.due {
		c.beginEvaluation()
	}
	c.proceed()
	if c.vectors != nil && c.vectors.due {
		c.keep()
	}
}

// keep deletes vectors that are too old, after the core announced the next record.
func (c *Core) keep() {
	c.vectors.due = false
	c.emit(Output{Kind: OutKeep, N: c.N, Names: c.Vectors()})
}

// proceed begins the next record, unless the run is paused, ends, or has other work first.
func (c *Core) proceed() {
	switch {
	case c.phase() != idle:
	case c.takeTurn():
	case c.End != nil || c.halt.Pause != nil:
		c.announceClosed()
	case c.queue.end != nil:
		c.appendEnd()
	case c.chain.Unread != nil && c.chain.Recall() != nil:
		c.pause(fmt.Sprintf("bound needs what the log tells of contributions, and the log cannot be "+
			"read: %v; `zofl resume` reads it again", c.chain.Unread))
	case c.watch.why != "":
		c.pause(c.watch.why)
	case c.Plan.Rounds > 0 && c.Rounds >= c.Plan.Rounds:
		c.end(wire.End{Reason: wire.EndRounds})
	case c.halt.Planned != nil && c.Rounds >= c.halt.Planned.After:
		due := c.halt.Planned
		c.halt.Planned = nil
		c.pauseFor(&runlog.Pause{Reason: due.Reason, By: due.By})
	case c.waiting():
	default:
		c.openRound()
	}
}

// waiting says whether round 1 still waits for members. A restarted coordinator of an open roster
// does not wait, because the devices joined the coordinator before it.
func (c *Core) waiting() bool {
	if c.Rounds > 0 || c.cohort.Roster.Open && (c.life.restarted || c.cohort.Roster.Waiting == nil) {
		return false
	}
	return c.cohort.Roster.Joined() < c.cohort.Roster.Wanted(&c.Plan)
}
