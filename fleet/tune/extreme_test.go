package tune_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/fleet"
	"github.com/zofl/zofl/fleet/tune"
	"github.com/zofl/zofl/plan"
)

// TestTooLarge: if the plan's step and the steps around it diverge at once, Run finds a smaller
// step. If all losses except the first fail, Run returns that as its error.
func TestTooLarge(t *testing.T) {
	computes(t)
	p := testPlan(t, "decomfl", func(p *plan.Plan) { p.StepSize, p.Steps = 1e9, 3 })
	r, err := tune.Run(t.Context(), tune.Config{Plan: p, Devices: objectives(task(5)),
		Fields: []string{"step"}})
	if err != nil || !(r.Loss < 0.3) || r.Plan.StepSize > 10 {
		t.Errorf("%v, step %v, loss %v", err, r.Plan.StepSize, r.Loss)
	}
	// So small a budget has no room for a second line.
	r, err = tune.Run(t.Context(), tune.Config{Plan: p, Devices: objectives(task(5)), Queries: 1600})
	if err != nil || !(r.Plan.StepSize < 1e9) ||
		!strings.Contains(r.Reasons[len(r.Reasons)-1], "No trial") {
		t.Errorf("a small budget: %v, step %v, %q", err, r.Plan.StepSize, r.Reasons)
	}
	cliff := errors.New("no parameters but zeros")
	only := objective.Func(dim, func(_ context.Context, x []float32, _ objective.Batch) (float64,
		error) {
		for _, v := range x {
			if v > 0.5 || v < -0.5 {
				return 0, cliff
			}
		}
		return 1 - 1e-3*float64(x[0]), nil
	})
	p = testPlan(t, "decomfl", func(p *plan.Plan) { p.Mu, p.StepSize = 1, 1e9 })
	r, err = tune.Run(t.Context(), tune.Config{Plan: p, Devices: []objective.Objective{only, only},
		Fields: []string{"step"}})
	if err == nil || !strings.Contains(err.Error(), "every step from") ||
		!errors.Is(err, cliff) || r == nil {
		t.Errorf("losses that always fail: %v", err)
	}
}

// A loss of 1e20 has slopes that 16 bits cannot hold. So trials use a unit of losses. The tuned
// plan has the unit, too, if Run set its mu.
func TestLargeLosses(t *testing.T) {
	computes(t)
	for _, auto := range []uint8{1, 0} {
		p := testPlan(t, "zofl", func(p *plan.Plan) { p.MuAuto, p.Mu = auto, 1e-3*float32(1-auto) })
		large := func(_ context.Context, x []float32, _ objective.Batch) (sum float64, _ error) {
			for _, v := range x {
				sum += 1e20 * (float64(v) - 1) * (float64(v) - 1) / dim
			}
			return sum, nil
		}
		o := objective.Func(dim, large)
		r, err := tune.Run(t.Context(), tune.Config{Plan: p, Seed: 3,
			Devices: []objective.Objective{o, o, o}})
		if err != nil {
			t.Fatalf("mu_auto=%d: %v", auto, err)
		}
		if unit := r.Plan.LossUnit; (unit > 0) != (auto == 0) {
			t.Errorf("mu_auto=%d: the tuned plan has loss_unit %v", auto, unit)
		}
		run, err := fleet.Run(t.Context(), r.Plan, []objective.Objective{o, o, o},
			fleet.Options{Rounds: 100})
		if err != nil {
			t.Fatalf("mu_auto=%d: %v", auto, err)
		}
		if loss, _ := large(t.Context(), run.Params, objective.Batch{}); loss > 0.1*1e20 {
			t.Errorf("mu_auto=%d: the loss ends at %.2g", auto, loss)
		}
	}
}

// If the loss depends on products of parameters, and all parameters are zero, every difference is
// 0. Then Run cannot find mu, and its error says what to do. From other parameters Run succeeds.
func TestSaddle(t *testing.T) {
	o := objective.Func(2, func(_ context.Context, x []float32, _ objective.Batch) (float64, error) {
		e := 1 - float64(x[0])*float64(x[1])
		return e * e, nil
	})
	p := testPlan(t, "zofl", func(p *plan.Plan) { p.Dim, p.Initial = 2, plan.Given })
	for _, c := range []struct {
		initial []float32
		refused bool
	}{{[]float32{0, 0}, true}, {[]float32{0.3, 0.5}, false}} {
		digest := replica.InitialDigest(c.initial)
		p.InitialDigest = digest[:]
		r, err := tune.Run(t.Context(), tune.Config{Plan: p, Initial: c.initial,
			Devices: []objective.Objective{o, o, o}})
		fault := (*plan.Error)(nil)
		if errors.As(err, &fault) != c.refused || c.refused && (fault.Field != "mu" ||
			!strings.Contains(err.Error(), "random weights")) {
			t.Errorf("from %v: %v", c.initial, err)
		}
		if !c.refused && !(r.Loss < 0.1) {
			t.Errorf("from %v: %v, loss %v", c.initial, err, r.Loss)
		}
	}
}
