package stepsize

import (
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire/survey"
)

// Due returns which survey the run needs before the next round, after the given number of rounds.
// Due depends on the log alone, so a coordinator that takes over makes the same survey, and a run
// that was rolled back makes the survey again.
func Due(p *plan.Plan, rounds uint64) survey.Kind {
	switch {
	case p.MuAuto > 0 && p.Mu == 0:
		return survey.Mu
	case p.StepAuto > 0 && p.StepSize == 0 && rounds >= survey.FirstRounds:
		return survey.Step
	}
	return survey.None
}
