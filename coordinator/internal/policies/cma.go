package policies

import (
	"github.com/zofl/zofl/coordinator/internal/aggregate"
	"github.com/zofl/zofl/coordinator/internal/cma"
	"github.com/zofl/zofl/coordinator/internal/policy"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire/survey"
)

// evolves adds the policies of server_rule=cma.
func evolves(s *policy.Set, at *runlog.Position) {
	lead := cma.New(at)
	s.Law, s.Requests, s.Knows = lead, lead, append(s.Knows, lead)
	if at.Plan.StepAuto > 0 {
		s.Surveys = append(s.Surveys, &firstSigma{at, lead})
	}
}

// A firstSigma is a survey that finds the sigma from which a run begins. Within boxes their sides
// tell it.
type firstSigma struct {
	at   *runlog.Position
	lead *cma.Lead
}

func (s *firstSigma) Due(uint64, policy.Members) survey.Kind {
	if survey.Sigma(&s.at.Plan) && !lacksStats(&s.at.Plan) {
		return survey.Mu
	}
	return survey.None
}

func (s *firstSigma) All() bool { return false }

func (s *firstSigma) Again([]uint32) *plan.Change { return nil }

func (s *firstSigma) Done(_ survey.Kind, _ uint64, answers *aggregate.Rows, _ policy.Members,
) (found survey.Result, change *plan.Change, ok bool) {
	answers.Sort()
	found, bend := cma.FirstSigma(answers.Rows())
	s.lead.Bent(bend)
	return found, cma.Begin(found.Value), found.Value > 0
}
