package engine

import (
	"fmt"
	"slices"

	"github.com/zofl/zofl/coordinator/internal/gather"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/wire"
)

// An evaluation collects metrics of the state after one record, until the next such record.
type evaluation struct {
	n       uint64 // 0: there is none
	tip     wire.Tip
	cohorts []wire.Cohort // of the announcements of record n+1
	asked   uint32
	done    bool // it was reported
	from    map[string]struct{}
	sum     gather.Tally
}

// beginEvaluation reports the current evaluation and begins the next one, if the last record is one
// to evaluate after.
func (c *Core) beginEvaluation() {
	every := uint64(c.Plan.EvalEvery)
	if every == 0 || c.N%every != 0 && c.End == nil {
		return
	}
	c.finishEvaluation()
	e := &c.evaluation
	if e.from == nil {
		e.from = map[string]struct{}{}
	}
	clear(e.from)
	e.n, e.tip, e.cohorts, e.done = c.N, c.Hash.Tip(), e.cohorts[:0], false
	e.sum.Reset(len(c.Plan.Metrics))
}

// askEvaluators notes the cohort of an announcement that brings the record to evaluate after.
func (c *Core) askEvaluators(cohort wire.Cohort) {
	e := &c.evaluation
	if e.n == 0 || e.n != c.N || slices.Contains(e.cohorts, cohort) {
		return
	}
	if len(e.cohorts) == 0 {
		e.asked = c.Plan.EvalCount
		if !c.roster.open {
			e.asked = min(e.asked, cohort.Members)
		}
	}
	e.cohorts = append(e.cohorts, cohort)
}

// evaluationReply adds a device's metrics.
func (c *Core) evaluationReply(m gather.Member, r *wire.Reply) {
	e := &c.evaluation
	_, again := e.from[m.ID]
	switch {
	case r.N < e.n:
		c.counters.Late++
	case e.n == 0 || r.N > e.n:
		c.counters.OtherRecord++
	case r.Tip != e.tip:
		c.counters.WrongTip++
	case again:
		c.counters.Duplicate++
	case !e.asks(&c.Plan, m):
		c.counters.Unsampled++
	case wire.Single.Len(r.Values) != len(c.Plan.Metrics):
		c.counters.WrongCount++
	case !gather.Finite(gather.Read(&c.values, wire.Single, r.Values, 1, len(c.Plan.Metrics))):
		c.counters.NonFinite++
	case c.roster.open && uint64(len(e.from)) > 4*uint64(c.Plan.EvalCount)+64:
		c.counters.Overflow++
	default:
		c.counters.Evaluations++
		e.from[m.ID] = struct{}{}
		e.sum.Add(c.values, r.Weight)
		if e.sum.Count == e.asked {
			c.finishEvaluation()
		}
	}
}

func (e *evaluation) asks(p *wire.Plan, m gather.Member) bool {
	return slices.ContainsFunc(e.cohorts, func(cohort wire.Cohort) bool {
		return cohort.Evaluates(p.Run, e.n, p.EvalShare(cohort), m.Slot, m.ID)
	})
}

// finishEvaluation reports the evaluation once, and ends the run if it reached its goal.
func (c *Core) finishEvaluation() {
	if !c.reportEvaluation() {
		return
	}
	if text := c.reached(); text != "" {
		c.end(wire.End{Reason: wire.EndMetric, Text: text})
	}
}

// reportEvaluation emits the evaluation, once, if any device answered, and says whether it did.
func (c *Core) reportEvaluation() bool {
	e := &c.evaluation
	if e.done || e.sum.Count == 0 {
		return false
	}
	e.done = true
	c.evaluated = report.Evaluation{
		N: e.n, Count: e.sum.Count, Asked: e.asked, Samples: e.sum.Weight, Metrics: e.sum.Means(),
	}
	c.emitEvent(report.Event{Kind: report.Evaluated, Evaluation: c.evaluated})
	return true
}

// reached says how the last evaluation reached the plan's goal, "" if it did not.
func (c *Core) reached() string {
	p := &c.Plan
	i := slices.Index(p.Metrics, p.StopMetric)
	if i < 0 {
		return ""
	}
	v := c.evaluated.Metrics[i]
	if p.StopWhen == wire.Above && v < p.StopValue || p.StopWhen == wire.Below && v > p.StopValue {
		return ""
	}
	return fmt.Sprintf("%s is %v after record %d, the goal was %v %v",
		p.StopMetric, v, c.evaluated.N, p.StopWhen, p.StopValue)
}
