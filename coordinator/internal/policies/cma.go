package policies

import (
	"github.com/zofl/zofl/coordinator/internal/aggregate"
	"github.com/zofl/zofl/coordinator/internal/cma"
	"github.com/zofl/zofl/coordinator/internal/policy"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/survey"
)

// evolves adds the policies of server_rule=cma.
func evolves(s *policy.Set, at *runlog.Position) {
	lead := cma.New(at)
	s.Law, s.Requests, s.Losses, s.Knows = lead, lead, lead, append(s.Knows, lead)
	s.Surveys = append(s.Surveys, &firstSigma{at, lead})
}

// A firstSigma is a survey that finds the sigma from which a run begins. Within boxes their sides
// tell it. With a plan that has its sigma it only mends rounds in which no candidate has a loss.
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

// drawn and shrunk bound the records between two rounds in which no candidate had a loss. The first
// records only have other candidates, because these depend on the record. The others have a sigma
// an eighth of the plan's, and so on, because the coordinator does not know the replicas' sigma.
const (
	drawn  = 2
	shrunk = 5
)

func (s *firstSigma) Again(declines []uint32, reachable uint32) *plan.Change {
	p, tries := &s.at.Plan, s.at.Search().Tries
	switch {
	case p.StepSize == 0, 2*uint64(declines[wire.DeclineLoss]) <= uint64(reachable),
		tries >= drawn+shrunk:
		return nil
	case tries < drawn:
		return cma.Same(p)
	}
	return cma.Begin(p.StepSize / 8)
}

func (s *firstSigma) Done(_ survey.Kind, _ uint64, answers *aggregate.Rows, _ policy.Members,
) (found survey.Result, change *plan.Change, ok bool) {
	answers.Sort()
	found, bend := cma.FirstSigma(answers.Rows())
	s.lead.Bent(bend)
	return found, cma.Begin(found.Value), found.Value > 0
}
