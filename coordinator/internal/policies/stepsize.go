package policies

import (
	"github.com/zofl/zofl/coordinator/internal/aggregate"
	"github.com/zofl/zofl/coordinator/internal/policy"
	"github.com/zofl/zofl/coordinator/internal/stepsize"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/survey"
)

// A scaling is a survey that finds mu or the step.
type scaling struct{ plan *plan.Plan }

func (s *scaling) Due(rounds uint64, _ policy.Members) survey.Kind {
	return stepsize.Due(s.plan, rounds)
}

func (s *scaling) All() bool { return false }

func (s *scaling) Done(k survey.Kind, rounds uint64, answers *aggregate.Rows, _ policy.Members,
) (found survey.Result, change *plan.Change, ok bool) {
	return stepsize.Decide(s.plan, rounds, k, answers.Rows())
}

// A law is the step law of package stepsize, with the slopes of the open round.
type law struct {
	stepsize.Law
	plan   *plan.Plan
	slopes []float64
}

func (l *law) Open() { l.slopes = l.slopes[:0] }

func (l *law) Moved(_ []byte, r wire.Record) {
	if r.Kind == wire.KindRollback {
		l.Reset()
	}
}

func (l *law) Kind() uint8 { return 1 }

// Append appends nothing for a rollback, after which the law knows nothing.
func (l *law) Append(b []byte, next wire.RecordKind) []byte {
	if next == wire.KindRollback {
		return b
	}
	return l.Law.Append(b)
}

func (l *law) Add(rest []byte) {
	if slope, ok := survey.SlopeOf(rest); ok {
		l.slopes = append(l.slopes, float64(slope))
	}
}

func (l *law) Next(at *runlog.Position, body *wire.Round, losses []float32) float32 {
	past := stepsize.Past{Step: at.LastStep.Size, Round: at.LastStep.Round,
		Factor: at.Squares.Factor(l.plan, body.Round, body.Terms)}
	return l.Law.Next(l.plan, past, body.Round, body.Terms, losses, l.slopes)
}
