package book

import (
	"math"
	"slices"

	"github.com/zofl/zofl/internal/grouping"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/testing/fleet/simulation/internal/scenario"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/survey"
)

// Numbers of fields of the plan.
const fieldMu, fieldStep = 12, 18

// surveyed checks that a change of mu or step is what enough devices found, whose answers reached
// its author, where the run lacked it. Operators of these runs set tiny steps.
func (b *Book) surveyed(r *wire.Record) {
	plan, is := b.plan(), func(field uint64) bool { return slices.Contains(r.Change.Fields, field) }
	mu, step := is(fieldMu), is(fieldStep) && r.Change.Values.StepSize > 1e-3
	if !mu && !step {
		return
	}
	b.world.Count("survey")
	switch {
	case mu && (plan.Mu != 0 || r.Change.Values.Mu != scenario.FoundMu):
		b.world.Find("surveys find values", "record %d sets mu to %v, where it is %v", r.N,
			r.Change.Values.Mu, plan.Mu)
	case step && (plan.StepSize != 0 || r.Change.Values.StepSize != scenario.FoundStep ||
		b.truth.Rounds() < 5):
		b.world.Find("surveys find values", "record %d sets step to %v after round %d, where it is %v",
			r.N, r.Change.Values.StepSize, b.truth.Rounds(), plan.StepSize)
	case step:
		b.world.Count("survey of step")
	case r.N > 2:
		b.world.Count("survey again")
	}
	if plan.Groups == grouping.Sketch {
		b.world.Count(map[bool]string{true: "survey of mu", false: "survey of step"}[mu] +
			" beside sketches")
	}
	reached := uint32(0)
	for device := range b.scenario.Devices {
		if a := b.answerTo(device, r.N); b.surveys[a] && b.made[a][r.Epoch] {
			reached++
		}
	}
	if reached < plan.Quorum {
		b.world.Find("quorum", "record %d is a survey of %d devices, the quorum is %d", r.N, reached,
			plan.Quorum)
	}
}

// needsValues checks that a round was not made before the values that it needs were found, and that
// its step is one that the law can come to.
func (b *Book) needsValues(r *wire.Record, plan *plan.Plan) {
	got, n := float64(r.Round.StepSize), r.Round.Round
	least, most := b.reachable(n)
	switch {
	case plan.Mu == 0:
		b.world.Find("surveys find values", "record %d is a round, and mu is 0", r.N)
	case plan.StepAuto == 0:
	case plan.StepSize == 0 && (got != 0 || n > 5):
		b.world.Find("surveys find values", "round %d has step %v before it was found", n, got)
	case plan.StepSize > 0 && !(got > least*float64(plan.StepSize) &&
		got < most*float64(plan.StepSize)):
		b.world.Find("surveys find values", "round %d has step %v of %v", n, got, plan.StepSize)
	}
}

// reachable returns between which factors of the plan's step that of a round lies. Rounds from 7 on
// correct it. The k-th of them does so by a factor of at most exp(0.05 + 0.4 s), or by its inverse,
// with s = 0.8 - 0.95^k where that is positive. What they learned outlasts a rollback. With
// groups=auto the squares of scalars correct it as well, here by large factors, as scalars are
// powers of two. No correction goes beyond 64.
func (b *Book) reachable(round uint64) (least, most float64) {
	law := 0.2 / math.Sqrt(1+float64(round-1)/30)
	if rounds := b.plan().Rounds; rounds > 0 {
		law *= min(1, 3*float64(rounds-round+1)/float64(rounds))
	}
	most = math.Log(64)
	if round <= 6 || b.plan().Groups != grouping.Auto {
		most = min(most, b.corrected(round))
	}
	return law * math.Exp(-most) * (1 - 1e-6), law * math.Exp(most) * (1 + 1e-6)
}

// corrected returns the logarithm of the largest factor by which rounds can have corrected the step
// of a round.
func (b *Book) corrected(round uint64) (most float64) {
	corrections := 0
	for i := range b.chain {
		if r := b.chain[i].record; r.Kind == wire.KindRound && r.Round.Round > 6 {
			corrections++
		}
	}
	if round > 6 {
		corrections++
	}
	for k := range corrections {
		most += 0.05 + 0.4*max(0, 0.8-math.Pow(0.95, float64(k+1)))
	}
	return most
}

// Asks returns what a survey asks for now, if one is open.
func (b *Book) Asks() survey.Kind {
	switch plan := b.plan(); {
	case plan == nil: // the log lost all of its records
		return survey.None
	case plan.MuAuto > 0 && plan.Mu == 0:
		return survey.Mu
	case plan.StepAuto > 0 && plan.StepSize == 0 && b.truth.Rounds() >= 5:
		return survey.Step
	}
	return survey.Sketch
}

// answersSurvey notes a contribution that answers a survey.
func (b *Book) answersSurvey(a answer, r *wire.Reply) {
	switch k := survey.Answered(r.Rest); {
	case k == survey.None && b.surveys[a]:
		b.world.Find("a reply is repeated as it is", "%s: record %d: scalars, and an answer before",
			a.device, a.n)
	case k != survey.None:
		b.surveys[a] = true
		b.world.Count("survey reply")
	}
}
