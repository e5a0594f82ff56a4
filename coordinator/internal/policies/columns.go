package policies

import (
	"fmt"
	"slices"

	"github.com/zofl/zofl/coordinator/internal/aggregate"
	"github.com/zofl/zofl/coordinator/internal/policy"
	"github.com/zofl/zofl/coordinator/internal/secagg"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/stats"
	"github.com/zofl/zofl/wire/survey"
)

// columns is a survey that finds the statistics of the devices' data.
type columns struct {
	plan *plan.Plan
	sums *secagg.Leader // nil: the coordinator sees each device's statistics
}

func (s *columns) Due(uint64, policy.Members) survey.Kind {
	if lacksStats(s.plan) {
		return survey.Columns
	}
	return survey.None
}

// lacksStats says whether devices have to find the statistics of their columns first: losses depend
// on them.
func lacksStats(p *plan.Plan) bool { return p.Columns > 0 && len(p.Stats) == 0 }

func (s *columns) All() bool { return true }

func (s *columns) Again([]uint32, uint32) *plan.Change { return nil }

func (s *columns) Done(k survey.Kind, _ uint64, answers *aggregate.Rows, _ policy.Members,
) (found survey.Result, change *plan.Change, ok bool) {
	found.Kind = k.String()
	var pooled []plan.Column
	if s.sums != nil {
		pooled, ok = stats.ReadWords(s.sums.Words())
		_, found.Answers = s.sums.Result()
	} else {
		pooled, found.Apart, ok = s.pool(answers)
		found.Answers, _ = answers.Total()
	}
	if !ok {
		found.Why = "the sums are of no data: a device sent false numbers; `zofl retire ID` removes one"
		return found, nil, false
	}
	if slices.ContainsFunc(pooled, func(c plan.Column) bool { return c.Count > 0 }) {
		found.Why = fmt.Sprintf("statistics of %d columns", len(pooled))
		return found, statsChange(pooled), true
	}
	found.Why = "no device has rows"
	return found, nil, false
}

// pool returns the statistics of all answers, and the members whose columns do not all count.
func (s *columns) pool(answers *aggregate.Rows) (pooled []plan.Column, apart []survey.Apart,
	ok bool) {
	answers.Sort() // so that the sums do not depend on which device was faster
	slots := answers.Slots()
	var each [][]plan.Column
	for _, row := range answers.Rows() {
		read, ok := stats.Read(row)
		if !ok {
			return nil, nil, false
		}
		each = append(each, read)
	}
	pooled, out := stats.Pool(s.plan, each)
	for _, o := range out {
		apart = append(apart, survey.Apart{Slot: slots[o.Answer], Why: o.Why})
	}
	return pooled, apart, true
}

// statsChange returns the change that gives the plan these statistics.
func statsChange(pooled []plan.Column) *plan.Change {
	f, _ := plan.FieldNamed("stats")
	return &plan.Change{Fields: []uint64{f.Number},
		Values: plan.Plan{ModelFields: plan.ModelFields{Stats: pooled}}}
}
