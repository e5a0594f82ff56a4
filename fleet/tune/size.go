package tune

import (
	"context"
	"math"
	"slices"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/fleet"
	"github.com/zofl/zofl/internal/grouping"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/valid"
)

const (
	// worthwhile: Run replaces the plan's step or P, or takes a larger batch, only if that multiplies
	// the gain by at least this factor.
	worthwhile = 1.05
	// tolerable: Run takes a smaller batch if that multiplies the gain by at least this factor.
	tolerable = 0.99
)

// tunePerturbations tries 2P and P/2, each with as many evaluations as the best attempt had.
func (t *tuning) tunePerturbations(ctx context.Context) error {
	switch before := t.best; {
	case !t.tunes("perturbations"):
		return nil
	case t.plan.Estimator == plan.Surrogate || len(t.plan.PerturbationSchedule) > 0:
		t.because("perturbations stays: the plan has no single P.")
		return nil
	default:
		for _, n := range []uint32{2 * t.plan.Perturbations, t.plan.Perturbations / 2} {
			a, err := t.trySize(ctx, "perturbations", t.withPerturbations(n))
			if err != nil {
				return err
			}
			if a != nil && t.isWorth(a, t.best, worthwhile) {
				t.choose(a)
				t.because("perturbations=%d with %s: at as many evaluations the loss is %s, and %s with %d.",
					n, t.stepNow(), number(a.trial.Loss), number(before.trial.Loss),
					before.trial.Perturbations)
				t.fitRounds(before.plan, a.plan)
				return nil
			}
		}
	}
	t.because("perturbations=%d stays: %s", t.plan.Perturbations, t.why("perturbations"))
	return nil
}

// fitRounds changes the rounds of the tuned plan so that the run takes as many evaluations as
// before, because the trials compared values of P at equal evaluations. If the run would then have
// fewer rounds than a trial, fitRounds only reports the number.
func (t *tuning) fitRounds(before, after *plan.Plan) {
	old, now := roundQueries(before, len(t.cfg.Devices)), roundQueries(after, len(t.cfg.Devices))
	p := t.cfg.Plan
	if p.Rounds == 0 || p.Rounds >= math.MaxUint32 || now == old {
		return
	}
	rounds := (p.Rounds*old + now/2) / now
	if rounds < t.cfg.Rounds {
		t.because("A round now takes %d evaluations in place of %d. The plan keeps its %d rounds; "+
			"rounds=%d would take as many evaluations as these took before.", now, old, p.Rounds, rounds)
		return
	}
	t.result.Plan.Rounds = rounds
	t.because("rounds=%d: a round takes %d evaluations in place of %d, so these rounds "+
		"take as many as %d rounds took before.", rounds, now, old, p.Rounds)
}

// why returns the reason why the stage changes nothing.
func (t *tuning) why(stage string) string {
	if slices.ContainsFunc(t.result.Trials, func(t Trial) bool { return t.Stage == stage }) {
		return "no other value that was tried gains enough to take its place."
	}
	return "nothing else was tried, within the budget and the plan's limits."
}

// gain returns by how much an attempt lowered the loss.
func (t *tuning) gain(a *attempt) float64 { return t.result.Start - a.trial.Loss }

// isWorth says whether the gain of a is at least times the gain of other.
func (t *tuning) isWorth(a, other *attempt, times float64) bool {
	if t.gain(other) <= 0 {
		return t.gain(a) > 0
	}
	return t.gain(a) >= times*t.gain(other)
}

// withPerturbations returns the plan with another P and the step that suits it. If the curvature is
// the same in all directions, the best step with n random directions in d dimensions is 1/(1 +
// (d+1)/n) times the best step with the exact gradient. With an adaptive server rule,
// withPerturbations takes the square root of this factor, because the rule's second moments already
// reduce the step by the other root.
func (t *tuning) withPerturbations(n uint32) *plan.Plan {
	p := *t.plan
	factor := share(&p, n) / share(&p, p.Perturbations)
	if t.step.adaptive {
		factor = math.Sqrt(factor)
	}
	p.Perturbations = n
	*t.step.of(&p) = rounded(float64(*t.step.of(&p)) * factor)
	return &p
}

// share returns 1/(1 + (d+1)/n). n is the number of directions of a round: P for each device, P for
// each group, or P in total, depending on the plan's sharing.
func share(p *plan.Plan, perturbations uint32) float64 {
	n := float64(perturbations)
	switch p.Sharing {
	case plan.PerClient:
		n *= float64(p.Target)
	case plan.GroupDirections:
		n *= float64(grouping.Count(p))
	}
	return n / (n + float64(p.Dim) + 1)
}

// tuneBatch tries four times and a quarter of the batch, with equal evaluations.
func (t *tuning) tuneBatch(ctx context.Context) error {
	before := t.plan.Batch
	switch {
	case !t.tunes("batch"):
		return nil
	case before == 0:
		t.because("batch=0 stays: it is all of a device's data.")
		return nil
	}
	for _, size := range []uint32{4 * before, before / 4} {
		best, p := t.best, *t.plan
		p.Batch = size
		least := worthwhile
		if size < before {
			least = tolerable
		} else if before >= t.samples() {
			continue
		}
		a, err := t.trySize(ctx, "batch", &p)
		if err != nil {
			return err
		}
		switch {
		case a != nil && size < before && slices.Equal(a.curve, best.curve):
			t.because("batch=%d stays: with %d all losses are the same, as where no device has more "+
				"samples than that.", before, size)
			return nil
		case a != nil && t.isWorth(a, best, least):
			t.choose(a)
			t.because("batch=%d: at as many evaluations the loss is %s, and %s with %d.%s", size,
				number(a.trial.Loss), number(best.trial.Loss), before, lessWork(size, before))
			return nil
		}
	}
	t.because("batch=%d stays: %s", before, t.why("batch"))
	return nil
}

// lessWork says why a smaller batch is acceptable although its loss is higher.
func lessWork(size, before uint32) string {
	if size > before {
		return ""
	}
	return " It is a quarter of the work, and the loss fell by at most 1 % less."
}

// samples returns the most samples of a device, or the largest number if a device does not say.
func (t *tuning) samples() (most uint32) {
	for _, o := range t.cfg.Devices {
		s, ok := o.(objective.Sampler)
		if !ok {
			return math.MaxUint32
		}
		most = max(most, uint32(min(max(s.Samples(), 0), math.MaxInt32)))
	}
	return most
}

// trySize tries a plan for as many rounds as take the evaluations of the best attempt. trySize
// returns nil if the plan is invalid or the budget is too small.
func (t *tuning) trySize(ctx context.Context, stage string, p *plan.Plan) (*attempt, error) {
	if p.Perturbations == 0 || p.Batch == 0 || valid.Plan(p) != nil {
		return nil, nil
	}
	round := func(p *plan.Plan) uint64 {
		return fleet.RoundQueries(p, unsurveyed(p), len(t.cfg.Devices))
	}
	rounds := t.best.trial.Rounds * round(t.best.plan) / round(p)
	if rounds < leastRounds || t.budget.left < t.cost(p, rounds) {
		return nil, nil
	}
	return t.try(ctx, stage, p, rounds, nil)
}
