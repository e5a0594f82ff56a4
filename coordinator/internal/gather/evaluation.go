package gather

import (
	"fmt"
	"slices"

	"github.com/zofl/zofl/wire"
)

// An Evaluation collects metrics of the state after one record, until the next such record.
type Evaluation struct {
	N     uint64 // 0: there is none
	Tip   wire.Tip
	Asked uint32
	Done  bool // it was reported
	Sum   Tally

	cohorts []wire.Cohort // of the announcements of record N+1
	from    map[string]struct{}
}

// Begin begins the evaluation of so many metrics after a record.
func (e *Evaluation) Begin(n uint64, tip wire.Tip, metrics int) {
	if e.from == nil {
		e.from = map[string]struct{}{}
	}
	clear(e.from)
	e.N, e.Tip, e.cohorts, e.Done = n, tip, e.cohorts[:0], false
	e.Sum.Reset(metrics)
}

// Ask notes the cohort of an announcement that brings record n.
func (e *Evaluation) Ask(p *wire.Plan, n uint64, cohort wire.Cohort) {
	if e.N == 0 || e.N != n || slices.Contains(e.cohorts, cohort) {
		return
	}
	if len(e.cohorts) == 0 {
		e.Asked = p.EvalCount
		if p.Roster == wire.ListedRoster {
			e.Asked = min(e.Asked, cohort.Members)
		}
	}
	e.cohorts = append(e.cohorts, cohort)
}

// Asks says whether a member is asked to evaluate.
func (e *Evaluation) Asks(p *wire.Plan, m Member) bool {
	return slices.ContainsFunc(e.cohorts, func(cohort wire.Cohort) bool {
		return cohort.Evaluates(p.Run, e.N, p.EvalShare(cohort), m.Slot, m.ID)
	})
}

// Has says whether a device has answered.
func (e *Evaluation) Has(id string) bool {
	_, has := e.from[id]
	return has
}

// Full bounds the memory that an open roster can take.
func (e *Evaluation) Full(p *wire.Plan) bool {
	return p.Roster == wire.OpenRoster && uint64(len(e.from)) > 4*uint64(p.EvalCount)+64
}

// Add adds a device's metrics, and says whether they are the last ones.
func (e *Evaluation) Add(id string, metrics []float32, weight uint32) (last bool) {
	e.from[id] = struct{}{}
	e.Sum.Add(metrics, weight)
	return e.Sum.Count == e.Asked
}

// Reached says how the metrics after record n reached the plan's goal, "" if they did not.
func Reached(p *wire.Plan, n uint64, metrics []float32) string {
	i := slices.Index(p.Metrics, p.StopMetric)
	if i < 0 {
		return ""
	}
	v := metrics[i]
	if p.StopWhen == wire.Above && v < p.StopValue || p.StopWhen == wire.Below && v > p.StopValue {
		return ""
	}
	return fmt.Sprintf("%s is %v after record %d, the goal was %v %v",
		p.StopMetric, v, n, p.StopWhen, p.StopValue)
}
