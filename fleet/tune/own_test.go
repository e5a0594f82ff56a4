package tune_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/fleet"
	"github.com/zofl/zofl/fleet/tune"
	"github.com/zofl/zofl/plan"
)

// steep is a square loss whose first parameter counts more than the others, on three devices.
func steep(times float64) []objective.Objective {
	o := objective.Func(dim, func(_ context.Context, x []float32, _ objective.Batch) (float64,
		error) {
		sum := 0.0
		for i, v := range x {
			square := (float64(v) - 1) * (float64(v) - 1)
			if i == 0 {
				square *= times
			}
			sum += square
		}
		return sum, nil
	})
	return []objective.Objective{o, o, o}
}

// TestOwnStep: Run replaces the step of the plan, or that of the devices, if another step is
// clearly better after a trial's rounds. It keeps the step if another is only a little better,
// because that advantage may vanish after all rounds of the plan.
func TestOwnStep(t *testing.T) {
	computes(t)
	for _, c := range []struct {
		name  string
		step  float32 // 0: devices find it
		times float64
		stays bool
		says  string
	}{
		{"the best", 0, 10, true, "step=auto: 1."},
		{"a little worse", 0, 100, true, "less than 5 % larger"},
		{"far worse", 0, 30, false, "is the least"},
		{"a number, a little worse", 1, 100, true, "step=1: 1 stays"},
		{"a number, far worse", 0.01, 100, false, "is the least"},
	} {
		p := testPlan(t, "zofl", func(p *plan.Plan) { p.StepSize = c.step })
		r, err := tune.Run(t.Context(), tune.Config{Plan: p, Devices: steep(c.times),
			Fields: []string{"step"}})
		if err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		least, own := math.Inf(1), 0.0
		for _, trial := range r.Trials {
			if trial.Stage == "refine" && trial.Loss < least {
				least = trial.Loss
			}
		}
		own = r.Loss
		why := r.Reasons[len(r.Reasons)-1]
		if (r.Plan.StepSize == c.step) != c.stays || !strings.Contains(why, c.says) ||
			r.Start-least > 1.05*(r.Start-own) || r.Plan.StepAuto != p.StepAuto {
			t.Errorf("%s: step %v with loss %v, of %v; %s", c.name, r.Plan.StepSize, own, least, why)
		}
	}
}

// TestPausedSurvey: a run that pauses before its devices found a step has not diverged. The error
// says why it paused.
func TestPausedSurvey(t *testing.T) {
	broken := errors.New("the engine is broken")
	o := objective.Func(dim, func(_ context.Context, x []float32, b objective.Batch) (float64,
		error) {
		if b.N > 3 {
			return 0, broken
		}
		return float64(x[0])*float64(x[0]) + 1 - float64(x[1]), nil
	})
	r, err := tune.Run(t.Context(), tune.Config{Plan: testPlan(t, "zofl", nil),
		Devices: []objective.Objective{o, o, o}})
	if !errors.Is(err, fleet.ErrPaused) || !errors.Is(err, broken) || r == nil {
		t.Fatalf("%v, %+v", err, r)
	}
	if last := r.Trials[len(r.Trials)-1]; last.Stage != "survey" || !last.Paused ||
		!math.IsInf(last.Loss, 1) {
		t.Errorf("the survey is shown as %+v", last)
	}
}
