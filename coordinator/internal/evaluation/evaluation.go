// Package evaluation collects what devices measure of a state, and says whether the metrics reach
// the plan's goal. The package has no clock.
package evaluation

import (
	"fmt"
	"slices"

	"github.com/zofl/zofl/coordinator/internal/gather"
	"github.com/zofl/zofl/coordinator/internal/presence"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// An Evaluation collects metrics for the state after one record, until the next record whose state
// devices evaluate.
type Evaluation struct {
	N     uint64 // 0: there is none
	Tip   wire.Tip
	Asked uint32
	Done  bool // it was reported
	Sum   gather.Tally

	cohorts []wire.Cohort // of the announcements of record N+1
	from    map[string]struct{}
	metrics []float32            // of the current reply
	held    gather.Contributions // all answers, of a plan with a ClaimBound
	near    bool                 // the evaluation before this one reached the goal
}

// Begin begins an evaluation of the given number of metrics after a record.
func (e *Evaluation) Begin(n uint64, tip wire.Tip, metrics int) {
	if e.from == nil {
		e.from = map[string]struct{}{}
	}
	clear(e.from)
	e.N, e.Tip, e.cohorts, e.Done = n, tip, e.cohorts[:0], false
	e.Sum.Reset(metrics)
	e.held.Reset(metrics)
}

// Ask notes the cohort of an announcement that brings record n.
func (e *Evaluation) Ask(p *plan.Plan, n uint64, cohort wire.Cohort) {
	if e.N == 0 || e.N != n || slices.Contains(e.cohorts, cohort) {
		return
	}
	if len(e.cohorts) == 0 {
		e.Asked = p.EvalCount
		if p.Roster == plan.ListedRoster {
			e.Asked = min(e.Asked, cohort.Members)
		}
	}
	e.cohorts = append(e.cohorts, cohort)
}

// Take adds a device's metrics, or counts the reason for refusing them. last says whether all
// devices have now answered.
func (e *Evaluation) Take(p *plan.Plan, m presence.Device, r *wire.Reply,
	c *report.Counters) (last bool) {
	_, has := e.from[m.ID]
	switch {
	case r.N < e.N:
		c.Late++
	case e.N == 0 || r.N > e.N:
		c.OtherRecord++
	case r.Tip != e.Tip:
		c.WrongTip++
	case has:
		c.Duplicate++
	case !e.asks(p, m):
		c.Unsampled++
	case plan.Single.Len(r.Values) != len(p.Metrics):
		c.WrongCount++
	case !gather.Finite(gather.Read(&e.metrics, plan.Single, r.Values, 1, len(p.Metrics))):
		c.NonFinite++
	case e.full(p):
		c.Overflow++
	default:
		c.Evaluations++
		e.from[m.ID] = struct{}{}
		e.Sum.Add(e.metrics, r.Weight)
		if p.ClaimBound > 0 {
			e.held.Add(m.Slot, e.metrics, r.Weight)
		}
		return e.Sum.Count == e.Asked
	}
	return false
}

// asks says whether the coordinator asked a member to evaluate.
func (e *Evaluation) asks(p *plan.Plan, m presence.Device) bool {
	return slices.ContainsFunc(e.cohorts, func(cohort wire.Cohort) bool {
		return cohort.Evaluates(p.Run, e.N, cohort.EvalShare(p), m.Slot, m.ID)
	})
}

// full says whether there is no room for another answer, which bounds the memory of an open roster.
func (e *Evaluation) full(p *plan.Plan) bool {
	return p.Roster == plan.OpenRoster && uint64(len(e.from)) > 4*uint64(p.EvalCount)+64
}

// Weigh bounds the samples that devices claim, if the plan bounds claims: to ClaimBound times the
// median claim; of an even number of claims, the lower middle one.
func (e *Evaluation) Weigh(p *plan.Plan) {
	if p.ClaimBound == 0 || e.held.Len() == 0 {
		return
	}
	weights := e.held.Weights()
	claims := slices.Sorted(slices.Values(weights))
	most := float64(p.ClaimBound) * float64(claims[(len(claims)-1)/2])
	rows := e.held.Rows()
	e.Sum.Reset(len(p.Metrics))
	for i, claimed := range weights {
		e.Sum.Add(rows[i], uint32(min(float64(claimed), most)))
	}
}

// Reached says how the metrics reached the plan's goal, or returns "" if they did not. With a
// ClaimBound the median of the evaluators must reach the goal, in two evaluations in a row. If
// there are two middle values, the value farther from the goal counts.
func (e *Evaluation) Reached(p *plan.Plan) string {
	if p.ClaimBound == 0 {
		return reached(p, e.N, e.Sum.Means())
	}
	if e.held.Len() == 0 {
		return "" // the plan bounds claims since all have answered
	}
	text := reached(p, e.N, e.held.Combine(func(values []float32) float32 {
		slices.Sort(values)
		if p.StopWhen == plan.Below {
			return values[len(values)/2]
		}
		return values[(len(values)-1)/2]
	}))
	again := e.near
	if e.near = text != ""; !again {
		return ""
	}
	return text
}

// Value returns the value of metric i by which the best model is chosen: the mean, or with a
// ClaimBound the median of the evaluators. Of two middle values it returns the worse one.
func (e *Evaluation) Value(i int, lowest bool) float64 {
	if e.held.Len() == 0 {
		return float64(e.Sum.Means()[i])
	}
	return float64(e.held.Combine(func(values []float32) float32 {
		slices.Sort(values)
		if lowest {
			return values[len(values)/2]
		}
		return values[(len(values)-1)/2]
	})[i])
}

// reached says how the metrics after record n reached the plan's goal, or returns "" if they did
// not.
func reached(p *plan.Plan, n uint64, metrics []float32) string {
	i := slices.Index(p.Metrics, p.StopMetric)
	if i < 0 {
		return ""
	}
	v := metrics[i]
	if p.StopWhen == plan.Above && v < p.StopValue || p.StopWhen == plan.Below && v > p.StopValue {
		return ""
	}
	return fmt.Sprintf("%s is %v after record %d, the goal was %v %v",
		p.StopMetric, v, n, p.StopWhen, p.StopValue)
}
