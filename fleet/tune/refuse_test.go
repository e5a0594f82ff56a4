package tune_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/fleet/tune"
)

func TestRefuses(t *testing.T) {
	good := testPlan(t, "decomfl", nil)
	invalid := *good
	invalid.Steps = 0
	broken := errors.New("the engine is broken")
	fails := objective.Func(dim, func(context.Context, []float32, objective.Batch) (float64, error) {
		return 0, broken
	})
	panics := objective.Func(dim, func(context.Context, []float32, objective.Batch) (float64, error) {
		panic("oops")
	})
	infinite := objective.Func(dim, func(context.Context, []float32, objective.Batch) (float64,
		error) {
		return math.NaN(), nil
	})
	devices := objectives(task(2))
	for _, c := range []struct {
		cfg  tune.Config
		want string
	}{
		{tune.Config{Devices: devices}, "Plan is nil"},
		{tune.Config{Plan: good}, "tune: 0 devices: give 1 to 16777216"},
		{tune.Config{Plan: &invalid, Devices: devices}, "steps = 0"},
		{tune.Config{Plan: good, Devices: devices, Fields: []string{"beta"}}, "Fields = beta: choose"},
		{tune.Config{Plan: good, Devices: append(devices, nil)}, "device 2 is nil"},
		{tune.Config{Plan: good, Devices: append(devices, fails)}, "device 2: the engine is broken"},
		{tune.Config{Plan: good, Devices: append(devices, panics)}, "device 2: panic: oops"},
		{tune.Config{Plan: good, Devices: append(devices, infinite)},
			"not finite: NaN: begin where it is finite"},
	} {
		_, err := tune.Run(t.Context(), c.cfg)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want %q", err, c.want)
		}
	}
}

// TestStop: Run returns when ctx ends, at any stage.
func TestStop(t *testing.T) {
	own := errors.New("own")
	for _, stage := range []string{"start", "mu", "line", "bracket", "refine", "perturbations",
		"batch"} {
		ctx, cancel := context.WithCancelCause(t.Context())
		devices, stages := task(5), 0
		r, err := tune.Run(ctx, tune.Config{Plan: testPlan(t, "decomfl", nil),
			Devices: objectives(devices), Progress: func(trial tune.Trial) {
				if trial.Stage == stage {
					cancel(own)
				}
				stages++
			}})
		cancel(nil)
		if stage == "batch" && err == nil {
			continue // it was the last trial
		}
		if !errors.Is(err, own) || r == nil || len(r.Trials) == 0 ||
			r.Trials[len(r.Trials)-1].Stage != stage {
			t.Errorf("stopped in stage %s: %v, %d trials", stage, err, stages)
		}
	}
}

// An error has the prefix of this package once, and no prefix of another package.
func TestPrefixOfErrors(t *testing.T) {
	level := objective.Func(dim, func(_ context.Context, x []float32, _ objective.Batch) (float64,
		error) {
		if x[0] == 0 {
			return 1, nil
		}
		return math.NaN(), nil
	})
	for _, step := range []float32{0, 0.1} {
		p := testPlan(t, "decomfl", nil)
		if step == 0 {
			p.StepSize, p.StepAuto = 0, 1
		}
		_, err := tune.Run(t.Context(), tune.Config{Plan: p,
			Devices: []objective.Objective{level, level}})
		if err == nil || !strings.HasPrefix(err.Error(), "tune: ") ||
			strings.Contains(err.Error(), "fleet:") {
			t.Errorf("got %v, want an error with the prefix tune: alone", err)
		}
	}
}
