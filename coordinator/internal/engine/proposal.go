package engine

import (
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/runlog"
)

// A proposal is the next record on its way into the log.
//
// Invariants:
//  1. From the time that its bytes are handed out until it is known what the log holds there, they
//     do not change, and no other bytes are handed out.
//  2. object is the vector that they name, nil if they name none.
//  3. While it is doubtful, trouble says why. Only appending the record ends that.
type proposal struct {
	frame    []byte // nil: there is none
	object   *runlog.Object
	event    report.Event // to emit once it is stored
	asked    bool         // an operator asked for it: it is the first of queued
	doubtful bool         // nobody knows whether the log has it
	retryAt  uint64       // doubtful: when it is handed out again
	trouble  string       // why the log does not take it, or the one before; "" if it does
}

// stored forgets the record, which the log has.
func (p *proposal) stored() { *p = proposal{trouble: p.trouble} }

// doubt notes that it is unknown whether the log has the record. It returns true if that is news.
func (p *proposal) doubt(why string, retryAt uint64) (news bool) {
	news = p.trouble != why
	p.doubtful, p.retryAt, p.trouble = true, retryAt, why
	return news
}

// phase returns how far the next record is.
func (c *Core) phase() phase {
	switch {
	case c.next.doubtful:
		return failed
	case c.next.frame != nil:
		return appending
	case c.round.open:
		return collecting
	}
	return idle
}
