package fleet

import (
	"context"
	"slices"

	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/wire"
)

// judge takes the value of the plan's Best after a round, if there is one, and keeps the best
// model. If the plan's patience ends the run, ends says so.
func (r *run) judge(e *report.Event) (ends string, err error) {
	p := r.original
	at := runlog.BestRecord{Record: runlog.Claim{N: e.N}, Round: e.Round}
	if p.BestOfTraining() {
		mean, ok := r.losses.Add(e.Round, e.Loss)
		if !ok {
			return "", nil
		}
		at.Value, at.Devices = mean, e.Contributors
	} else if r.round.Metrics != nil {
		at.Value = r.round.Metrics[slices.Index(p.Metrics, p.Best)]
		at.Devices = r.round.Evaluators
	} else {
		return "", nil
	}
	if _, best := r.best.Take(at, float64(p.MinDelta)); best {
		if err := r.witness.catchUp(context.Background()); err != nil {
			return "", err
		}
		r.result.Best = &Best{Params: slices.Clone(r.witness.replica.Params())}
	}
	if r.result.Best != nil {
		r.result.Best.Best = *report.BestOf(r.best)
	}
	if r.best.Ends(p) != "" {
		ends = wire.EndPatience.String()
	}
	return ends, nil
}
