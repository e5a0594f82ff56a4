package tune

import (
	"cmp"
	"fmt"

	"github.com/zofl/zofl/fleet"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire/survey"
)

const (
	// judgeBatches is on how many fresh minibatches of each device Run measures the loss of a trial.
	judgeBatches = 4
	// lineReach bounds the line search: it goes from 4^-lineReach to 4^lineReach times the move.
	lineReach = 8
	// budgetRounds is how many rounds fit into the default budget.
	budgetRounds = 400
	// shortRounds and leastRounds are the largest and the smallest number of rounds of a trial in
	// stage bracket.
	shortRounds, leastRounds = 10, 2
)

// A budget is a number of loss evaluations, and how the stages divide them.
type budget struct {
	left    uint64
	free    uint64 // evaluations beside those of the start and of stages mu and line
	round   uint64 // evaluations of a round
	judge   uint64 // evaluations to judge a trial
	first   uint64 // evaluations of a trial before its first round
	short   uint64 // rounds of a trial of stage bracket
	long    uint64 // rounds of a trial of stage refine
	bracket uint64 // evaluations that stage bracket leaves for later stages
}

// take subtracts n evaluations from the budget. The caller must know that n are left.
func (b *budget) take(n uint64) {
	if n > b.left {
		panic("tune: internal error: over the budget")
	}
	b.left -= n
}

// Budget returns the default budget for a plan on this many devices: the evaluations of the start,
// of stage mu and of stage line or survey, and those of 400 rounds.
func Budget(p *plan.Plan, devices int) uint64 {
	return brackets(p, devices) + budgetRounds*roundQueries(p, devices)
}

// unsurveyed returns a round that no survey precedes.
func unsurveyed(p *plan.Plan) uint64 { return survey.Before(p) + 2 }

// roundQueries returns the most evaluations that a round takes, with the largest P of a schedule.
func roundQueries(p *plan.Plan, devices int) uint64 {
	most := *p
	most.Perturbations, most.PerturbationSchedule = p.MaxPerturbations(), nil
	return fleet.RoundQueries(&most, unsurveyed(p), devices)
}

// firstQueries returns the evaluations of each trial before its first round.
func firstQueries(p *plan.Plan, devices int) uint64 {
	most := *p
	most.Mu = cmp.Or(p.Mu, 1) // stage mu finds mu before all trials
	most.PerturbationSchedule = nil
	return fleet.RoundQueries(&most, 1, devices) - fleet.RoundQueries(&most, unsurveyed(p), devices)
}

// brackets returns the evaluations of the start and of stages mu and line.
func brackets(p *plan.Plan, devices int) uint64 {
	n := uint64(devices)
	sum := judgeQueries(p, devices) + n*uint64(1+2*len(decades))
	if p.StepAuto > 0 && p.StepSize == 0 {
		sum += judgeQueries(p, devices)
		for round := range survey.FirstMove(p) {
			sum += fleet.RoundQueries(p, round+1, devices)
		}
		return sum
	}
	return sum + n*(2+2*lineReach) + firstQueries(p, devices) + roundQueries(p, devices)
}

// judgeQueries returns the evaluations that measure the loss of a trial. If the batch is all of a
// device's data, one evaluation suffices.
func judgeQueries(p *plan.Plan, devices int) uint64 {
	if p.Batch == 0 {
		return uint64(devices)
	}
	return judgeBatches * uint64(devices)
}

// budgetOf returns the budget of a tuning, divided among the stages.
func budgetOf(t *tuning) (b budget, err error) {
	p, devices := t.plan, len(t.cfg.Devices)
	b.left = cmp.Or(t.cfg.Queries, Budget(p, devices))
	b.judge = judgeQueries(p, devices)
	b.first = firstQueries(p, devices)
	round, fixed := roundQueries(p, devices), brackets(p, devices)
	least := fixed + 3*(b.first+leastRounds*round+b.judge)
	if b.left < least {
		return b, &fleet.OptionError{Option: "Queries", Value: b.left, Remedy: fmt.Sprintf(
			"give %d or more: the brackets and three trials of %d rounds take as many, of %d devices; "+
				"the default is %d", least, leastRounds, devices, Budget(p, devices))}
	}
	b.free, b.round = b.left-fixed, round
	b.divide(t.cfg.Rounds)
	return b, nil
}

// spare takes n evaluations from those that the stages after mu do not need, and reports whether
// there are so many.
func (b *budget) spare(n, rounds uint64) bool {
	if b.free < n+3*(b.first+leastRounds*b.round+b.judge) {
		return false
	}
	b.take(n)
	b.free -= n
	b.divide(rounds)
	return true
}

// divide divides the free evaluations among the stages of a run of this many rounds.
func (b *budget) divide(rounds uint64) {
	free, round := b.free, b.round
	b.short = min(max(free/(40*round), leastRounds), shortRounds)
	b.long = max(free*2/5/3, b.first+round+b.judge) - b.first - b.judge
	b.long = min(max(b.long/round, leastRounds), max(rounds, leastRounds))
	b.bracket = 3 * (b.first + b.long*round + b.judge)
}
