package fleet

import (
	"context"
	"slices"

	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/wire"
)

// starts keep the best model with which a start of a run with restarts ended. A run that its
// evaluations end has no record that returns to it.
type starts struct {
	best, now start
	over      bool // the evaluations ended the run
}

// A start is the model of a start at its end, and its last loss.
type start struct {
	x    []float32 // nil: none yet
	loss float32
}

// keep takes the model after a round.
func (r *run) keep(e *report.Event) (ends string, err error) {
	err = r.witness.catchUp(context.Background())
	r.starts.now = start{slices.Clone(r.witness.replica.Params()), e.Loss}
	return "", err
}

// spent ends the run where the next round might take more evaluations than Options.Queries allow.
// Noise and restarts give it more candidates than the plan has: up to a tenth more, or twice as
// many.
func (r *run) spent(e *report.Event) (ends string, err error) {
	p, next := r.plan, e.Perturbations
	if p.PerturbationsAuto > 0 {
		next += 1 + next/10
	}
	if p.Restarts > 0 {
		next = max(next, 2*e.Perturbations)
	}
	if r.round.Queries+uint64(e.Contributors)*p.PhaseQueries(0, next) <= r.options.Queries {
		return "", nil
	}
	r.starts.over = true
	return wire.EndRounds.String(), nil
}

// close ends a start.
func (s *starts) close() {
	if s.best.x == nil || s.now.loss <= s.best.loss {
		s.best = s.now
	}
}

// model returns the best model, where the run ended in a later start.
func (s *starts) model(last []float32) []float32 {
	if s.over && s.best.x != nil && s.best.loss < s.now.loss {
		return s.best.x
	}
	return last
}
