package tune

import (
	"context"
	"errors"
	"math"

	"github.com/zofl/zofl/fleet"
)

// If no length along the first move lowers the loss, the next line search uses a step smaller by a
// factor of 4^lineShift. lines is the largest number of line searches.
const lineShift, lines = 12, 3

// line returns an exponent: 4^exponent times the plan's step gives the least loss along the first
// round's move. A step so large that local steps diverge gives no useful move. Then line tries far
// smaller steps.
func (t *tuning) line(ctx context.Context) (exponent int, err error) {
	cost := t.budget.first + roundQueries(t.plan, len(t.cfg.Devices)) +
		uint64((2+2*lineReach)*len(t.cfg.Devices))
	for i := range lines {
		if i > 0 && t.budget.left < cost+t.budget.bracket {
			break
		}
		exponent, better, err := t.lineFrom(ctx, -i*lineShift)
		if better || err != nil {
			return exponent, err
		}
	}
	return 0, nil
}

// lineFrom makes one line search, along the move of a step that is 4^shift times the plan's. better
// says whether any length lowers the loss.
func (t *tuning) lineFrom(ctx context.Context, shift int) (exponent int, better bool, err error) {
	p := t.withStep(shift)
	trial := t.settings("line", p)
	defer func() {
		if err == nil {
			t.note(trial)
		}
	}()
	result, err := rehearse(ctx, p, t.cfg.Devices, fleet.Options{Rounds: 1,
		Initial: t.cfg.Initial, Checked: true})
	if result == nil {
		return 0, false, err
	}
	t.spend(result.Queries)
	trial.Rounds, trial.Queries = uint64(len(result.Rounds)), result.Queries
	switch {
	case ctx.Err() != nil:
		return 0, false, context.Cause(ctx)
	case errors.Is(err, fleet.ErrDiverged), errors.Is(err, fleet.ErrPaused):
		trial.Loss = math.Inf(1)
		return 0, false, nil
	case err != nil:
		return 0, false, err
	}
	losses, err := t.along(ctx, result.Params)
	if err != nil {
		return 0, false, err
	}
	trial.Queries += uint64(len(losses) * len(t.cfg.Devices))
	best := 0 // the first parameters
	for i, loss := range losses {
		if loss < losses[best] {
			best = i
		}
	}
	if trial.Loss = losses[best]; best == 0 {
		return 0, false, nil
	}
	exponent = shift + best - 1 - lineReach
	trial.Step = t.stepAt(exponent)
	return exponent, true, nil
}

// along returns mean losses over the devices: first at the initial parameters x, and then at x +
// 4^j (to - x) for all j.
func (t *tuning) along(ctx context.Context, to []float32) ([]float64, error) {
	points := 2 + 2*lineReach
	t.spend(uint64(points * len(t.cfg.Devices)))
	rows, err := t.each(ctx, func(ctx context.Context, i int) ([]float64, error) {
		row, x := make([]float64, points), make([]float32, len(t.x))
		b := t.batch(i, lineSeed)
		for k := range row {
			length := 0.0
			if k > 0 {
				length = math.Ldexp(1, 2*(k-1-lineReach))
			}
			for j, from := range t.x {
				x[j] = from + float32(length*float64(to[j]-from))
			}
			t.replica.Clip(x, 0)
			loss, err := lossOf(ctx, t.cfg.Devices[i], x, b)
			if err != nil {
				loss = math.Inf(1)
			}
			row[k] = loss
		}
		return row, nil
	})
	losses := make([]float64, points)
	for k := range losses {
		losses[k] = mean(rows, k)
	}
	return losses, err
}
