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
// again after the next of 5, 10, 20, 40 ... rounds, or when a person changes the plan.
func Due(p *plan.Plan, rounds uint64, s runlog.Search) survey.Kind {
	switch {
	case p.MuAuto > 0 && p.Mu == 0:
		return survey.Mu
	case p.StepAuto > 0 && p.StepSize == 0 && rounds >= survey.Before(p) &&
		!s.Failed && (!s.Idle || rounds == survey.Before(p) || doubled(rounds)):
		return survey.Step
	}
	return survey.None
}

// again returns after which round devices look again that looked in vain after the given number of
// rounds.
func again(rounds uint64) uint64 {
	next := uint64(survey.FirstRounds)
	for next <= rounds {
		next *= 2
	}
	return next
}

// doubled says whether rounds is [survey.FirstRounds], or that doubled some times.
func doubled(rounds uint64) bool {
	return rounds%survey.FirstRounds == 0 && bits.OnesCount64(rounds/survey.FirstRounds) == 1
}
