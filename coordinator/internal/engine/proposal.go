package engine

import (
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/runlog"
)

// A proposal is the next record on its way into the log.
//
// Invariants:
//  1. From the time that the core hands out the record's bytes until the core knows which record
//     the log holds there, the bytes do not change, and the core hands out no other bytes.
//  2. object is the vector that the record names, or nil if the record names none.
//  3. While the record is doubtful, trouble says why. Only appending the record ends that.
type proposal struct {
	frame    []byte // nil: there is none
	object   *runlog.Object
	event    report.Event // to emit once it is stored
	asked    bool         // an operator asked for it: it is the first of queued
	doubtful bool         // nobody knows whether the log has it
	retryAt  uint64       // doubtful: when it is handed out again
	trouble  string       // why the log does not take it, or the one before; "" if it does
}

// stored forgets the record, because the log has stored it.
func (p *proposal) stored() { *p = proposal{trouble: p.trouble} }

// doubt notes that the core does not know whether the log has the record. news says whether the
// reason is a new one.
func (p *proposal) doubt(why string, retryAt uint64) (news bool) {
	news = p.trouble != why
	p.doubtful, p.retryAt, p.trouble = true, retryAt, why
	return news
}

// phase returns how far the core is with the next record.
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
