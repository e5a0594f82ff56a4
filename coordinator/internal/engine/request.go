package engine

import (
	"errors"
	"fmt"
	"slices"

	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// A queue holds records that must go to the log as soon as possible.
type queue struct {
	records []*wire.Record // that operators asked for
	end     *wire.End
}

// ErrEnded: the run has ended, or is about to end; see coordinator.ErrEnded.
var ErrEnded = errors.New("the run has ended")

// Check returns the reason why the core cannot carry out an operator's request, or nil if it can.
func (c *Core) Check(r *wire.Record) error {
	err := c.allows(r)
	if err == nil && c.queue.requested() {
		err = ErrEnded
	}
	return err
}

// allows returns the reason why a requested record cannot be the next record, or nil if it can.
func (c *Core) allows(r *wire.Record) error {
	switch {
	case c.life.deposed:
		return runlog.ErrDeposed
	case c.End != nil:
		return ErrEnded
	case r.Kind == wire.KindRollback && r.To == 0:
		return errors.New("to record 0: the first record is 1, the run's beginning")
	case r.Kind == wire.KindRollback && r.To > c.N:
		return fmt.Errorf("to record %d: the log ends with record %d: choose that or less", r.To, c.N)
	case r.Kind == wire.KindRollback && r.To < c.Begins:
		return fmt.Errorf("to record %d: the log begins with the state after record %d", r.To,
			c.Begins)
	case r.Kind == wire.KindRollback && c.Lacks(r.To) > 0:
		return fmt.Errorf("to record %d: it needs the vector of record %d, which is gone: with "+
			"dense_keep = %d the log "+
			"keeps those of the last rounds only: choose a later record", r.To, c.Lacks(r.To),
			c.Plan.DenseKeep)
	case r.Kind == wire.KindChange && len(r.Change.Fields) == 0:
		return errors.New("it names no field")
	case r.Kind == wire.KindChange && c.N == 0:
		return errors.New("the run has not begun")
	case r.Kind == wire.KindChange:
		after, err := runlog.Changed(&c.Plan, r.Change)
		if err == nil && c.policy.Steps != nil {
			err = c.policy.Steps.Allows(&after)
		}
		return err
	}
	return nil
}

// request queues a record that an operator asked for. A rollback does not wait for the open round.
// While the run is paused, a change does not wait either.
func (c *Core) request(r *wire.Record) {
	c.queue.records = append(c.queue.records, r)
	waits := c.halt.Pause != nil || c.halt.shortage.Waits || r.Kind == wire.KindRollback
	if c.phase() == idle || c.phase() == collecting && waits {
		c.takeTurn()
	}
}

// takeTurn hands the first possible requested record to the log, and says whether there was such a
// record. takeTurn refuses requests that are no longer possible.
func (c *Core) takeTurn() bool {
	for len(c.queue.records) > 0 {
		r := *c.queue.records[0]
		if err := c.allows(&r); err != nil {
			c.queue.records = c.queue.records[1:]
			c.emitEvent(report.Event{Kind: report.Refused, Record: r.Kind, Reason: err.Error()})
			continue
		}
		e := report.Event{Kind: report.RolledBack, To: r.To}
		if r.Kind == wire.KindChange {
			e = changeEvent(r.Change)
		}
		c.next.asked = true
		c.append(&r, e)
		if r.Kind == wire.KindRollback && c.policy.Steps != nil {
			c.restoreAfter(r.To)
		}
		return true
	}
	return false
}

// restoreAfter queues the change without which devices would take no part after a rollback, as the
// next record after it.
func (c *Core) restoreAfter(to uint64) {
	earlier := c.PlanAt(to)
	if change := c.policy.Steps.Restores(&earlier, c.Plan.Quorum); change != nil {
		r := &wire.Record{Kind: wire.KindChange, Change: change}
		c.queue.records = slices.Insert(c.queue.records, 1, r)
	}
}

// restoreAtStart queues that change if the log ends with a rollback, because the coordinator that
// stored the rollback may have ended before it stored the change. records calls each with every
// record of the log.
func (c *Core) restoreAtStart(records func(each func(record []byte)) error) error {
	var last wire.RecordKind
	highest, at := c.Plan.Quorum, plan.Plan{}
	err := records(func(record []byte) {
		r, err := wire.DecodeRecord(record)
		if err != nil {
			return
		}
		switch last = r.Kind; r.Kind {
		case wire.KindPlan:
			at.Quorum = r.Plan.Quorum
		case wire.KindChange:
			r.Change.Apply(&at)
		}
		highest = max(highest, at.Quorum)
	})
	if err != nil || last != wire.KindRollback {
		return err
	}
	if change := c.policy.Steps.Restores(&c.Plan, highest); change != nil {
		c.queue.records = append(c.queue.records, &wire.Record{Kind: wire.KindChange, Change: change})
	}
	return nil
}

func changeEvent(change *plan.Change) report.Event {
	return report.Event{Kind: report.Changed, Fields: fieldsOf(change)}
}

// fieldsOf returns the names of the fields that a change sets.
func fieldsOf(change *plan.Change) (names []string) {
	for _, f := range plan.Fields() {
		if slices.Contains(change.Fields, f.Number) {
			names = append(names, f.Name)
		}
	}
	return names
}

// Moved drops a pending end, unless an operator requested it, because a rollback undoes its reason.
func (q *queue) Moved(_ []byte, r wire.Record) {
	if r.Kind == wire.KindRollback && !q.requested() {
		q.end = nil
	}
}

// end ends the run once pending records are stored. If an operator requested the end, neither a
// pause nor a rollback stops it, whichever came first. A requested end replaces an end that follows
// from the run's state.
func (c *Core) end(e wire.End) {
	if c.End != nil {
		return
	}
	if c.queue.end == nil || e.Reason == wire.EndRequested {
		c.queue.end = &e
	}
	if e.Reason == wire.EndRequested {
		if c.halt.Pause != nil || c.halt.Planned != nil {
			c.halt.Pause, c.halt.Planned = nil, nil
			c.decide()
		}
		if c.phase() == failed {
			c.handToLog()
		}
	}
	if c.halt.Pause == nil && (c.phase() == idle || c.phase() == collecting) {
		c.appendEnd()
	}
}

// requested says whether an operator requested the end. No later request undoes that.
func (q *queue) requested() bool { return q.end != nil && q.end.Reason == wire.EndRequested }

func (c *Core) appendEnd() {
	e := *c.queue.end
	c.append(&wire.Record{Kind: wire.KindEnd, End: &e}, report.Event{Kind: report.RunEnded, End: e})
}
