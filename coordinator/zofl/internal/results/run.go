// Package results shows the outcome of runs: as a report of one run, as a comparison of two, and as
// files for TensorBoard and MLflow. The package reads everything from a run's log and from the
// history that is stored beside the log.
package results

import (
	"context"
	"errors"

	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/zofl/internal/history"
	"github.com/zofl/zofl/coordinator/zofl/internal/source"
	"github.com/zofl/zofl/plan"
)

// ErrNoHistory means that only records of a run exist, and no history of its rounds.
var ErrNoHistory = errors.New("the log has no history of losses and metrics beside it: an " +
	"earlier version of zofl serve led the run, or no round was made; zofl log prints its records")

// A Run holds what is known about a run.
type Run struct {
	From    string    // what the reader calls its log, such as a directory
	Flags   string    // of commands that read the log
	Plan    plan.Plan // with which it began
	Now     plan.Plan // with all changes
	Records uint64
	Rounds  uint64
	Hash    string       // of the last record
	Ended   string       // why; "": it has not
	Best    *report.Best // nil: it has none
	Points  []history.Point
	Marks   []history.Mark
}

// Load reads a run's records, and uses the points and marks of its history.
func Load(ctx context.Context, src source.Source, points []history.Point,
	marks []history.Mark) (*Run, error) {
	if len(points) == 0 {
		return nil, ErrNoHistory
	}
	plan, err := source.PlanOf(ctx, src)
	if err != nil {
		return nil, err
	}
	at, err := source.Check(ctx, src, 0)
	if err != nil {
		return nil, err
	}
	r := &Run{Plan: *plan, Now: at.Plan, Records: at.N, Rounds: at.Rounds,
		Hash: at.Hash.String(), Points: points, Marks: marks}
	if at.End != nil {
		r.Ended = at.End.Reason.String()
	}
	return r, nil
}

// State says whether the run has ended.
func (r *Run) State() string {
	if r.Ended == "" {
		return "not ended"
	}
	return "ended: " + r.Ended
}

// Metrics are the names of the measured metrics, in the plan's order.
func (r *Run) Metrics() (names []string) {
	for _, name := range r.Now.Metrics {
		if len(r.Metric(name).At) > 0 {
			names = append(names, name)
		}
	}
	return names
}
