package engine

import (
	"github.com/zofl/zofl/coordinator/internal/evaluation"
	"github.com/zofl/zofl/coordinator/internal/presence"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/wire"
)

// evaluations holds the current evaluation, and the result of the last one.
type evaluations struct {
	evaluation.Evaluation
	last report.Evaluation
	due  bool // the state after the log's last record is to be evaluated, and nobody was asked yet
	log  *runlog.Position
	tell func(report.Event)
}

// Moved notes the log's next record. A rollback ends an evaluation, because the evaluated state is
// no longer on the log's path.
func (e *evaluations) Moved(_ []byte, r wire.Record) {
	if r.Kind == wire.KindRollback {
		e.report()
		e.N, e.Done = 0, true
	}
	every := uint64(e.log.Plan.EvalEvery)
	e.due = every > 0 && (e.log.N%every == 0 || e.log.End != nil)
}

// beginEvaluation reports the current evaluation and begins the one that is due.
func (c *Core) beginEvaluation() {
	c.evaluation.due = false
	c.finishEvaluation()
	c.evaluation.Begin(c.N, c.Hash.Tip(), len(c.Plan.Metrics))
}

// evaluationReply adds a device's metrics.
func (c *Core) evaluationReply(m presence.Device, r *wire.Reply) {
	if c.evaluation.Take(&c.Plan, m, r, &c.counters) {
		c.finishEvaluation()
	}
}

// finishEvaluation reports the evaluation once, and ends the run if the evaluation reached the
// plan's goal.
func (c *Core) finishEvaluation() {
	if !c.evaluation.report() {
		return
	}
	if text := c.evaluation.Reached(&c.Plan); text != "" {
		c.end(wire.End{Reason: wire.EndMetric, Text: text})
	}
	if c.Plan.Best != "" {
		c.evaluated()
	}
}

// report emits the evaluation, once, if any device answered, and says whether it emitted the event.
func (e *evaluations) report() bool {
	if e.Done || e.Sum.Count == 0 {
		return false
	}
	e.Done = true
	e.Weigh(&e.log.Plan)
	e.last = report.Evaluation{
		N: e.N, Count: e.Sum.Count, Asked: e.Asked, Samples: e.Sum.Weight, Metrics: e.Sum.Means(),
	}
	e.tell(report.Event{Kind: report.Evaluated, Evaluation: e.last})
	return true
}
