package stepsize

import (
	"math/bits"

	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire/survey"
)

// Due returns which survey the run needs before the next round, after the given number of rounds.
// Due depends on the log alone, so a coordinator that takes over makes the same survey, and a run
// that was rolled back makes the survey again. After devices looked for the step in vain, they look
// again when the run has twice as many rounds, or when a person changes the plan.
func Due(p *plan.Plan, rounds uint64, s runlog.Search) survey.Kind {
	switch {
	case p.MuAuto > 0 && p.Mu == 0:
		return survey.Mu
	case p.StepAuto > 0 && p.StepSize == 0 && rounds >= survey.FirstRounds &&
		!s.Failed && (!s.Idle || doubled(rounds)):
		return survey.Step
	}
	return survey.None
}

// doubled says whether rounds is [survey.FirstRounds], or that doubled some times.
func doubled(rounds uint64) bool {
	return rounds%survey.FirstRounds == 0 && bits.OnesCount64(rounds/survey.FirstRounds) == 1
}
