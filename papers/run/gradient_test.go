package run

import (
	"context"
	"errors"
	"math"
	"reflect"
	"sync/atomic"
	"testing"

	"github.com/zofl/zofl/plan"
)

// half reports whether a client gives gradients: every second client does.
func half(slot int) bool { return slot%2 == 0 }

// counted returns a training with counters of its losses and gradients.
func counted(cfg Config) (_ Config, losses, gradients *atomic.Uint64) {
	losses, gradients = new(atomic.Uint64), new(atomic.Uint64)
	loss, gradient := cfg.Task.Loss, cfg.Task.Gradient
	cfg.Task.Loss = func(x []float32, samples []int) float64 {
		losses.Add(1)
		return loss(x, samples)
	}
	cfg.Task.Gradient = func(grad, x []float32, samples []int) float64 {
		gradients.Add(1)
		return gradient(grad, x, samples)
	}
	return cfg, losses, gradients
}

// TestGradients checks that clients with gradients make no queries and train like black boxes,
// and that the curve counts their gradients.
func TestGradients(t *testing.T) {
	const rounds = 30
	boxes := mustTrain(t, digits(t, rounds)).Curve
	for name, who := range map[string]func(int) bool{
		"all": func(int) bool { return true }, "half": half,
	} {
		cfg := digits(t, rounds)
		cfg.Differentiates = who
		cfg, losses, gradients := counted(cfg)
		c := mustTrain(t, cfg).Curve
		last, want := c.Points[rounds-1], boxes.Points[rounds-1]
		if last.Queries != losses.Load() || last.Gradients != gradients.Load() ||
			last.Gradients == 0 || (last.Queries == 0) != (name == "all") ||
			last.AsBlackBoxes() != want.Queries {
			t.Errorf("%s: %+v, after %d losses and %d gradients; black boxes %+v", name, last,
				losses.Load(), gradients.Load(), want)
		}
		// Some 40 bytes of every hundred rounds depend on timing.
		if more := float64(last.Bytes)/float64(want.Bytes) - 1; !(math.Abs(more) < 0.01) {
			t.Errorf("%s: %d bytes, black boxes %d", name, last.Bytes, want.Bytes)
		}
		for _, metric := range c.Metrics {
			got, want := c.At(metric, rounds), boxes.At(metric, rounds)
			if !(math.Abs(got-want) <= 0.02*want) {
				t.Errorf("%s: %s %v, black boxes %v", name, metric, got, want)
			}
		}
	}
}

// TestGradientsOfPhases checks that the curve counts exactly the losses and gradients that
// clients computed, also with two phases and with control variates.
func TestGradientsOfPhases(t *testing.T) {
	for _, control := range []plan.Control{plan.ScaffoldPoint, plan.ScaffoldMean} {
		cfg := phased(t, control, 9)
		cfg.Differentiates = half
		cfg, losses, gradients := counted(cfg)
		last := mustTrain(t, cfg).Curve.Points[8]
		if last.Queries != losses.Load() || last.Gradients != gradients.Load() {
			t.Errorf("%v: %+v, after %d losses and %d gradients", control, last, losses.Load(),
				gradients.Load())
		}
	}
}

// TestResumeGradients checks that a continued run counts the gradients before the stop, although
// the saved rows do not contain them.
func TestResumeGradients(t *testing.T) {
	cfg := digits(t, 20)
	cfg.Differentiates = half
	whole := mustTrain(t, cfg)
	cfg.Dir = t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	cfg.Progress = func(c *Curve) {
		if c.Last() == 7 {
			cancel()
		}
	}
	if _, err := Train(ctx, cfg); !errors.Is(err, context.Canceled) {
		t.Fatalf("%v, want canceled", err)
	}
	cfg.Progress = nil
	again := mustTrain(t, cfg)
	for i, got := range timeless(again.Curve) {
		want := timeless(whole.Curve)[i]
		got.Bytes, got.TrainLoss = want.Bytes, want.TrainLoss // see TestResume
		if !reflect.DeepEqual(got, want) {
			t.Errorf("after a stop %+v, without one %+v", got, want)
		}
	}
	if got := again.Curve.Last(); got != 20 {
		t.Errorf("it ended after round %d", got)
	}
}

// TestNoGradient checks that Train refuses a task without a gradient before the run begins.
func TestNoGradient(t *testing.T) {
	cfg := digits(t, 3)
	cfg.Differentiates, cfg.Task.Gradient = half, nil
	if _, err := Train(t.Context(), cfg); err != errNoGradient {
		t.Errorf("got %v, want %v", err, errNoGradient)
	}
}
