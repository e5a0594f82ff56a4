package engine

import (
	"github.com/zofl/zofl/coordinator/internal/gather"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/wire"
)

// An evaluation is the current one, and the result of the last one.
type evaluation struct {
	gather.Evaluation
	last report.Evaluation
}

// beginEvaluation reports the current evaluation and begins the next one, if the last record is one
// to evaluate after.
func (c *Core) beginEvaluation() {
	every := uint64(c.Plan.EvalEvery)
	if every == 0 || c.N%every != 0 && c.End == nil {
		return
	}
	c.finishEvaluation()
	c.evaluation.Begin(c.N, c.Hash.Tip(), len(c.Plan.Metrics))
}

// evaluationReply adds a device's metrics.
func (c *Core) evaluationReply(m gather.Member, r *wire.Reply) {
	if c.evaluation.Take(&c.Plan, m, r, &c.counters) {
		c.finishEvaluation()
	}
}

// finishEvaluation reports the evaluation once, and ends the run if it reached its goal.
func (c *Core) finishEvaluation() {
	if !c.reportEvaluation() {
		return
	}
	if text := c.evaluation.Reached(&c.Plan); text != "" {
		c.end(wire.End{Reason: wire.EndMetric, Text: text})
	}
}

// reportEvaluation emits the evaluation, once, if any device answered, and says whether it did.
func (c *Core) reportEvaluation() bool {
	e := &c.evaluation.Evaluation
	if e.Done || e.Sum.Count == 0 {
		return false
	}
	e.Done = true
	e.Weigh(&c.Plan)
	c.evaluation.last = report.Evaluation{
		N: e.N, Count: e.Sum.Count, Asked: e.Asked, Samples: e.Sum.Weight, Metrics: e.Sum.Means(),
	}
	c.emitEvent(report.Event{Kind: report.Evaluated, Evaluation: c.evaluation.last})
	return true
}
