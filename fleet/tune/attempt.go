package tune

import (
	"cmp"
	"context"
	"errors"
	"math"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/fleet"
	"github.com/zofl/zofl/plan"
)

// An attempt is a trial that runs some rounds.
type attempt struct {
	trial  Trial
	plan   *plan.Plan
	params []float32 // the model after it
	curve  []float64 // training losses by round
	failed error     // why the attempt failed; nil: it did not
}

// cost returns the largest number of evaluations that an attempt can take, including those that
// judge it.
func (t *tuning) cost(p *plan.Plan, rounds uint64) uint64 {
	sum := t.budget.judge
	for round := range rounds {
		sum += fleet.RoundQueries(p, round+1, len(t.cfg.Devices))
	}
	return sum
}

// try runs a plan for some rounds and judges the result. The budget must hold these rounds. If
// rival is not nil, try ends the attempt early if it gains far less than rival.
func (t *tuning) try(ctx context.Context, stage string, p *plan.Plan, rounds uint64,
	rival *attempt) (*attempt, error) {
	a := &attempt{plan: p, trial: t.settings(stage, p)}
	result, err := rehearse(ctx, p, t.cfg.Devices, fleet.Options{
		Rounds: rounds, Initial: t.cfg.Initial, Checked: true,
		Progress: func(r fleet.Round) error {
			a.curve = append(a.curve, r.Loss)
			if a.trial.Dropped = a.losesTo(rival, rounds); a.trial.Dropped {
				return fleet.ErrStop
			}
			return nil
		},
	})
	if result == nil {
		return nil, err
	}
	t.spend(result.Queries)
	if a.trial.Stage == "survey" {
		a.plan = result.Plan
		a.trial.Step = *t.step.of(a.plan)
	}
	a.params = result.Params
	a.trial.Rounds, a.trial.Queries = uint64(len(a.curve)), result.Queries
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.Is(err, fleet.ErrDiverged), errors.Is(err, fleet.ErrPaused):
		a.trial.Loss, a.failed = math.Inf(1), err
		a.trial.Paused = errors.Is(err, fleet.ErrPaused)
	case err != nil:
		return nil, err
	case !a.trial.Dropped:
		a.trial.Queries += t.budget.judge
		loss, err := t.judge(ctx, result.Params)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			loss, a.failed = math.Inf(1), err
		}
		a.trial.Loss = loss
	}
	t.note(a.trial)
	return a, nil
}

// rehearse is [fleet.Run] without the prefix of its errors, because [Run] adds its own.
func rehearse(ctx context.Context, p *plan.Plan, devices []objective.Objective,
	o fleet.Options) (*fleet.Result, error) {
	result, err := fleet.Run(ctx, p, devices, o)
	err = cmp.Or(errors.Unwrap(err), err)
	return result, err
}

// losesTo says whether try should end an attempt after its latest round, because the attempt gained
// far less than rival. After a quarter of the rounds, that means less than half of rival's gain.
// After half of the rounds, it means less than four fifths. Both attempts use the same minibatches.
func (a *attempt) losesTo(rival *attempt, rounds uint64) bool {
	n := len(a.curve)
	if rival == nil || n > len(rival.curve) {
		return false
	}
	part := 0.0
	switch uint64(n) {
	case (rounds + 3) / 4:
		part = 0.5
	case (rounds + 1) / 2:
		part = 0.8
	default:
		return false
	}
	other := gained(rival.curve[:n])
	return other > 0 && gained(a.curve) < part*other
}

// gained returns how much the loss fell from the first round to the last tenth of the rounds.
func gained(curve []float64) float64 {
	last := curve[len(curve)-max(len(curve)/10, 1):]
	sum := 0.0
	for _, loss := range last {
		sum += loss
	}
	return curve[0] - sum/float64(len(last))
}

// beats says whether an attempt ended with a lower loss than another, which may be nil.
func (a *attempt) beats(b *attempt) bool {
	return b == nil || a.trial.Loss < b.trial.Loss || math.IsNaN(b.trial.Loss)
}

// outcome returns the loss after an attempt, or how the attempt failed, as a text.
func (a *attempt) outcome() string {
	switch {
	case a.trial.Dropped:
		return "dropped"
	case a.trial.Paused:
		return "paused"
	case math.IsInf(a.trial.Loss, 1):
		return "diverged"
	}
	return number(a.trial.Loss)
}
