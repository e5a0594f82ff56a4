package fleet

import (
	"context"
	"slices"

	"github.com/zofl/zofl/coordinator/report"
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
func (s *starts) keep(r *run, e *report.Event) error {
	err := r.witness.catchUp(context.Background())
	s.now = start{slices.Clone(r.witness.replica.Params()), e.Loss}
	return err
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
