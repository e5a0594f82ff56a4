package cost

import (
	"github.com/zofl/zofl/internal/grouping"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire/survey"
)

// Queries returns the loss evaluations of a device in the first rounds of a run, surveys included.
func Queries(p *plan.Plan, rounds uint64) uint64 {
	sum := Surveys(p)
	stretches(p, func(each, most uint64) bool {
		n := min(rounds, most)
		rounds -= n
		sum += n * each
		return rounds > 0
	})
	return sum
}

// Rounds returns in how many rounds a device can work with so many loss evaluations, surveys
// included: at most [plan.MaxRound].
func Rounds(p *plan.Plan, queries uint64) (rounds uint64) {
	left := queries - min(queries, Surveys(p))
	stretches(p, func(each, most uint64) bool {
		n := min(left/max(each, 1), most)
		rounds += n
		left -= n * each
		return n == most
	})
	return min(rounds, plan.MaxRound)
}

// stretches calls yield for each stretch of rounds that cost a device equally many evaluations,
// with their number and that of the rounds, until yield returns false.
func stretches(p *plan.Plan, yield func(each, most uint64) bool) {
	at := uint64(1)
	for _, point := range p.PerturbationSchedule {
		if point.Round <= at {
			continue
		}
		if !yield(round(p, at), point.Round-at) {
			return
		}
		at = point.Round
	}
	yield(round(p, at), plan.MaxRound-min(at, plan.MaxRound)+1)
}

// round returns the loss evaluations of a device in a round.
func round(p *plan.Plan, at uint64) (sum uint64) {
	for _, phase := range phasesOf(p) {
		sum += p.PhaseQueries(phase, p.PerturbationsAt(at))
	}
	return sum
}

// Longest returns the most losses that a device evaluates before a deadline.
func Longest(p *plan.Plan) (most uint64) {
	for _, phase := range phasesOf(p) {
		most = max(most, p.PhaseQueries(phase, p.MaxPerturbations()))
	}
	if p.MuAuto > 0 && p.Mu == 0 || survey.Sigma(p) {
		most = max(most, survey.Mu.Queries(p))
	}
	if p.StepAuto > 0 && p.StepSize == 0 && p.ServerRule != plan.ServerCMA {
		most = max(most, survey.Step.Queries(p))
	}
	if p.Groups == grouping.Sketch {
		most = max(most, survey.Sketch.Queries(p))
	}
	return most
}
