package coordinator

import (
	"bytes"

	"github.com/zofl/zofl/wire"
)

// append hands the next record to the log; closed is told once it is stored.
func (c *core) append(r *wire.Record, closed Event) {
	r.N, r.Prev, r.Epoch = c.n+1, c.hash, c.epoch
	if r.N == 1 {
		r.Prev = wire.Genesis(c.plan.Run)
	}
	c.pending, c.closed = r.Append(nil), closed
	c.handToLog()
}

func (c *core) handToLog() {
	c.phase, c.announcing = appending, false
	c.emit(output{kind: outAppend, n: c.n + 1, frame: c.pending})
}

// appended handles that the log has record n.
func (c *core) appended(n uint64) {
	if c.phase != appending || n != c.n+1 {
		return
	}
	c.prev = c.hash.Tip()
	if _, err := c.apply(c.pending); err != nil {
		panic("coordinator: internal error: " + err.Error())
	}
	c.remember(c.pending)
	c.phase, c.pending = idle, nil
	c.round.open = false
	if c.closed.Kind != 0 {
		c.emitEvent(c.closed)
	}
	c.committed()
}

// committed goes on after the last record.
func (c *core) committed() {
	c.beginEvaluation()
	c.beginDigests()
	c.proceed()
}

// appendFailed pauses the run; the same bytes are tried again on resume. A run
// that is paused already is told anew why: what paused it may be over before
// the log works.
func (c *core) appendFailed(n uint64, err error) {
	if c.phase != appending || n != c.n+1 {
		return
	}
	c.phase = failed
	c.halt("the log does not take the record: " + err.Error())
}

// proceed begins the next record if nothing is in its way.
func (c *core) proceed() {
	p := &c.plan
	switch {
	case c.phase != idle:
	case c.ended != nil || c.paused:
		c.announceClosed()
	case c.ending != nil:
		c.appendEnd()
	case p.Rounds > 0 && c.rounds >= p.Rounds:
		c.end(wire.End{Reason: wire.EndRounds})
	case c.waiting():
	default:
		c.openRound()
	}
}

// waiting says whether round 1 still waits for members. A restarted
// coordinator of an open roster does not: its devices joined the one before.
func (c *core) waiting() bool {
	if c.rounds > 0 || c.roster.open && (c.restarted || c.roster.waiting == nil) {
		return false
	}
	return c.roster.joined() < int(c.plan.Members)
}

// pause opens no more rounds; what the open one has stays.
func (c *core) pause(reason string) {
	if !c.paused && c.ended == nil {
		c.halt(reason)
	}
}

// halt pauses the run, or gives the reason anew.
func (c *core) halt(reason string) {
	c.paused, c.reason = true, reason
	c.emitEvent(Event{Kind: RunPaused, Reason: reason})
	if c.phase != appending {
		c.announceClosed()
	}
}

// resume goes on where pause stopped.
func (c *core) resume() {
	if !c.paused {
		return
	}
	c.paused, c.reason, c.announcing = false, "", false
	c.emitEvent(Event{Kind: RunResumed})
	switch {
	case c.phase == failed:
		c.handToLog()
	case c.phase == collecting && c.ending != nil:
		c.appendEnd()
	case c.phase == collecting && c.sum.count >= c.plan.Target:
		c.commitRound()
	case c.phase == collecting:
		c.round.tries = 0
		c.openAttempt(c.round.attempt + 1)
	default:
		c.proceed()
	}
}

// end ends the run as soon as the log has what it was given. A pause does not
// stop an end that somebody asked for.
func (c *core) end(e wire.End) {
	if c.ended != nil {
		return
	}
	if c.ending == nil {
		c.ending = &e
	}
	if c.paused && e.Reason == wire.EndRequested {
		c.paused, c.reason = false, ""
		if c.phase == failed {
			c.handToLog()
		}
	}
	if !c.paused && (c.phase == idle || c.phase == collecting) {
		c.appendEnd()
	}
}

func (c *core) appendEnd() {
	e := *c.ending
	c.append(&wire.Record{Kind: wire.KindEnd, End: &e}, Event{Kind: RunEnded, End: e})
}

// remember keeps a copy of a record for announcements.
func (c *core) remember(record []byte) {
	record = bytes.Clone(record)
	if c.first == nil {
		c.first = record
	}
	c.recent.add(record)
}
