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

// scales adds the policies that find mu or the step.
func scales(s *policy.Set, at *runlog.Position) {
	s.Surveys = append(s.Surveys, &scaling{at})
	if at.Plan.StepAuto > 0 {
		l := &law{plan: &at.Plan}
		s.Law, s.Knows = l, append(s.Knows, l)
	}
}

// A scaling is a survey that finds mu or the step.
type scaling struct{ at *runlog.Position }

func (s *scaling) Due(rounds uint64, _ policy.Members) survey.Kind {
	if lacksStats(&s.at.Plan) {
		return survey.None
	}
	return stepsize.Due(&s.at.Plan, rounds, s.at.Search())
}

func (s *scaling) All() bool { return false }

func (s *scaling) Done(k survey.Kind, rounds uint64, answers *aggregate.Rows, _ policy.Members,
) (found survey.Result, change *plan.Change, ok bool) {
	found, change, ok = stepsize.Decide(&s.at.Plan, rounds, k, answers.Rows())
	if !ok && k == survey.Mu && s.at.Search().Tries < mostLevel && stepsize.Level(answers.Rows()) {
		found.Why += ": devices look along other directions"
		return found, stepsize.Anew(), true
	}
	return found, change, ok
}

// mostLevel and mostVain bound the records between two rounds by which the run has devices look for
// mu again: where no direction had a slope, and where nobody could contribute with the mu that they
// found. Such a try takes two records.
const (
	mostLevel = 3
	mostVain  = 6
)

func (s *scaling) Again(declines []uint32, _ uint32) *plan.Change {
	p, all := &s.at.Plan, uint32(0)
	for _, n := range declines {
		all += n
	}
	if p.MuAuto == 0 || p.Mu == 0 || s.at.Search().Tries >= mostVain || all == 0 ||
		declines[wire.DeclineTooLarge] < all {
		return nil
	}
	return stepsize.Anew()
}

// A law is the step law of package stepsize, with the slopes of the open round.
type law struct {
	stepsize.Law
	plan   *plan.Plan
	slopes []float64
}

func (l *law) Open(perturbations uint32) uint32 {
	l.slopes = l.slopes[:0]
	return perturbations
}

// Announce leaves the step out: it is known when the round closes.
func (l *law) Announce(a *wire.Announcement) { a.StepSize = 0 }

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

func (l *law) Add(_ []float32, rest []byte) {
	if slope, ok := survey.SlopeOf(rest); ok {
		l.slopes = append(l.slopes, float64(slope))
	}
}

func (l *law) Next(at *runlog.Position, body *wire.Round, losses []float32) float32 {
	past := stepsize.Past{Step: at.LastStep.Size, Round: at.LastStep.Round,
		Factor: at.Squares.Factor(l.plan, body.Round, body.Terms)}
	return l.Law.Next(l.plan, past, body.Round, body.Terms, losses, l.slopes)
}
