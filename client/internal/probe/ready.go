package probe

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/zofl/zofl/client/internal/isolate"
	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/plan"
)

// The next errors are reasons for declining a task, in addition to an error of the app's loss.
var (
	// ErrSlow says that the loss is too slow for the time left.
	ErrSlow = errors.New("the loss is too slow for the time left")
	// ErrLate says that the round's time was up before the device could begin, for instance because
	// the device had to fetch records first.
	ErrLate = errors.New("the round's time was up before the work began")
	// ErrPolicy says that the app's policy does not allow the work, or failed.
	ErrPolicy = errors.New("the app's policy")
	// ErrBusy says that an earlier callback has not returned.
	ErrBusy = isolate.ErrBusy
	// ErrTooLarge says that a scalar or an element of the vector is above the plan's MaxScalar.
	ErrTooLarge = errors.New("a scalar is above the plan's max_scalar")
)

// Ready says whether the device can and may make these calls for record n before the round
// closes. The error matches [ErrBusy], [ErrLate], [ErrSlow] or [ErrPolicy].
func (p *Prober) Ready(ctx context.Context, n uint64, calls Calls, closes time.Time) error {
	need := p.duration(calls.Queries) + p.gradients.duration(calls.Gradients)
	left := time.Until(closes)
	// An abandoned callback may be about to return: wait for a quarter of the time left, unless the
	// loss is too slow anyway.
	patience := left / 4
	if need > left {
		patience = 0
	}
	if !p.calls.Idle(ctx, patience) {
		return ErrBusy
	}
	switch left = time.Until(closes); {
	case left <= 0:
		return fmt.Errorf("%w, %v ago", ErrLate, (-left).Round(time.Millisecond))
	case need > left:
		took := p.measured(calls.Queries) + p.gradients.measured(calls.Gradients)
		p.doubt()
		p.gradients.doubt()
		slow := ErrSlow
		if stuck := p.Stuck(); stuck > 0 {
			slow = fmt.Errorf("%w, or hangs: a call had not returned after %v", ErrSlow, stuck)
		}
		return fmt.Errorf("%w: %v take %v, %v are left: raise deadline, or make the loss quicker",
			slow, calls, took.Round(time.Millisecond), left.Round(time.Millisecond))
	}
	return p.mayWork(ctx, objective.Work{
		N: n, Queries: calls.Queries, Gradients: calls.Gradients, Left: left,
	})
}

// Stuck returns after which time the device gave up the last call of the app's objective, if that
// call was the first or took much longer than usual, so that it may hang; 0: it was not.
func (p *Prober) Stuck() time.Duration {
	return max(p.meter.stuck, p.gradients.stuck).Round(time.Millisecond)
}

// mayWork asks the app's policy.
func (p *Prober) mayWork(ctx context.Context, work objective.Work) error {
	policy, ok := p.cfg.Objective.(objective.Policy)
	if !ok {
		return nil
	}
	allowed, err := isolate.Call(ctx, &p.calls, func() (bool, error) {
		return policy.MayWork(work), nil
	})
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", ErrPolicy, err)
	case !allowed:
		return fmt.Errorf("%w says not now", ErrPolicy)
	}
	return nil
}

// Weight returns this device's weight in the mean.
func (p *Prober) Weight(ctx context.Context, pl *plan.Plan) (uint32, error) {
	if pl.Weights != plan.BySamples {
		return 1, nil
	}
	n, err := p.samples(ctx)
	if err != nil {
		return 0, err
	}
	return uint32(max(1, min(uint64(max(n, 0)), uint64(pl.MaxWeight)))), nil
}

// Metrics are what an evaluation measured.
type Metrics struct {
	Values  []float64 // in the plan's order
	Samples int       // of which the values are means
}

// Evaluates says whether the objective is an [objective.Evaluator].
func (p *Prober) Evaluates() bool {
	_, ok := p.cfg.Objective.(objective.Evaluator)
	return ok
}

// Evaluate has the app measure the model x. If an earlier callback does not return within
// patience, the error is [ErrBusy].
func (p *Prober) Evaluate(
	ctx context.Context, x []float32, patience time.Duration,
) (Metrics, error) {
	if !p.calls.Idle(ctx, patience) {
		return Metrics{}, ErrBusy
	}
	if streams, ok := p.cfg.Objective.(objective.StreamingEvaluator); ok {
		point := p.source.vector(x)
		defer p.source.revoke()
		return isolate.Call(ctx, &p.calls, func() (m Metrics, err error) {
			m.Values, m.Samples, err = streams.EvaluateAt(ctx, point)
			return m, err
		})
	}
	evaluator := p.cfg.Objective.(objective.Evaluator)
	probe := p.flat()
	copy(probe, x)
	return isolate.Call(ctx, &p.calls, func() (m Metrics, err error) {
		m.Values, m.Samples, err = evaluator.Evaluate(ctx, probe)
		return m, err
	})
}
