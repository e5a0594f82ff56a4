package preset

import (
	"fmt"
	"math"
	"slices"

	"github.com/zofl/zofl/internal/grouping"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/cost"
	"github.com/zofl/zofl/wire/survey"
)

// Suit sets fields of a plan that suit what is known, and that are not in set, the names of the
// fields that the author has set:
//
//   - a round of the preset cma asks all members;
//   - Unlike: devices of the preset zofl form groups, each like the whole, if they fill them;
//   - LossSeconds: a longer deadline, if a round's evaluations do not fit half of it;
//   - Evaluations, Seconds: as many rounds as they allow.
//
// Call Suit after [Few]. The error is a [*plan.Error]: the evaluations do not suffice for the first
// move.
func Suit(p *plan.Plan, k Known, set ...string) error {
	a := author{set}
	if p.Preset == curved && p.Roster == plan.ListedRoster && !a.has("target") {
		p.Target = max(p.Target, p.Members)
	}
	if k.Unlike {
		a.mix(p)
	}
	queries := k.queries()
	if queries > 0 {
		a.steady(p, k.Noise)
	}
	if k.LossSeconds > 0 && !a.has("deadline") {
		longest := 2000 * float64(cost.Longest(p)) * k.LossSeconds
		if longest >= math.MaxUint32 {
			return &plan.Error{Field: "deadline", Value: longest, Remedy: fmt.Sprintf("%d losses of %g s "+
				"would need so many milliseconds, and it allows %d: take a shorter loss", cost.Longest(p),
				k.LossSeconds, uint32(math.MaxUint32))}
		}
		p.Deadline = max(p.Deadline, uint32(math.Ceil(longest)))
	}
	if queries == 0 {
		return nil
	}
	Overture(p, queries, set...)
	p.Rounds = cost.Rounds(p, queries)
	if least := survey.FirstMove(p); p.Rounds < least {
		return &plan.Error{Field: "evaluations", Value: queries, Remedy: fmt.Sprintf("with %s the "+
			"model first moves after %d evaluations of each device: allow as many", p.Preset,
			cost.Queries(p, least))}
	}
	return nil
}

// queries returns how many losses a device can evaluate in the run; 0: any number.
func (k Known) queries() uint64 {
	if k.Seconds == 0 || k.LossSeconds == 0 {
		return k.Evaluations
	}
	within := uint64(min(max(1, k.Seconds/k.LossSeconds), plan.MaxRound))
	if k.Evaluations == 0 {
		return within
	}
	return min(k.Evaluations, within)
}

// steady keeps a round of the preset cma at as many candidates as it begins with, because a number
// of evaluations bounds the run. Where noise would make the preset raise them, these are more.
func (a *author) steady(p *plan.Plan, noise bool) {
	if p.PerturbationsAuto > 0 && noise && !a.has("perturbations_auto") {
		give(a, "perturbations", &p.Perturbations, noisyTimes*p.Perturbations)
	}
	give(a, "perturbations_auto", &p.PerturbationsAuto, 0)
	give(a, "restarts", &p.Restarts, 0)
}

// noisyTimes is the factor on the candidates that does as well under noise as raising them.
const noisyTimes = 4

// mixed is the size of groups of which each is like the whole.
const mixed = 5

// mix makes devices of the preset zofl share directions in groups of which each is like the whole.
func (a *author) mix(p *plan.Plan) {
	asked := p.Sampled(plan.MaxMembers)
	if p.Preset != Default || p.Roster == plan.OpenRoster || asked < 2*mixed || asked%mixed != 0 ||
		asked > grouping.MaxDevices || slices.ContainsFunc(mannerFields, a.has) {
		return
	}
	p.Groups, p.GroupSize = grouping.Sketch, mixed
}
