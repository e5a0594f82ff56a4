package run

import (
	"context"
	"errors"
	"reflect"
	"sync/atomic"
	"testing"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/planfile"
)

// phased is a small training with two phases a round: 8 clients, 3 a phase.
func phased(t *testing.T, control plan.Control, rounds uint64) Config {
	cfg := digits(t, rounds)
	cfg.Plan.Difference, cfg.Plan.Steps, cfg.Plan.Control = plan.Forward, 2, control
	return cfg
}

// TestWork counts the losses that clients compute and the minibatches that they take.
func TestWork(t *testing.T) {
	for _, control := range []plan.Control{plan.NoControl, plan.ScaffoldPoint, plan.ScaffoldMean} {
		cfg := phased(t, control, 9)
		asked := make(chan int, 1<<16)
		loss := cfg.Task.Loss
		cfg.Task.Loss = func(x []float32, samples []int) float64 {
			asked <- len(samples)
			return loss(x, samples)
		}
		r := mustTrain(t, cfg)
		if len(r.Curve.Points) != 9 || r.Curve.Ended != "rounds" {
			t.Fatalf("%v: %d points, ended %q", control, len(r.Curve.Points), r.Curve.Ended)
		}
		if got, want := r.Curve.Points[8].Queries, uint64(len(asked)); got != want {
			t.Errorf("%v: %d queries, %d were asked", control, got, want)
		}
		batches, err := taken(t.Context(), r.Log, &cfg)
		if err != nil {
			t.Fatal(err)
		}
		var all uint64
		for _, n := range batches {
			all += n
		}
		// A step asks P+1 times, of one minibatch.
		if want := uint64(len(asked)) / 5; all != want {
			t.Errorf("%v: %d minibatches, want %d", control, all, want)
		}
	}
}

// TestAnew: a run with control variates that was stopped has the same curve as one that was
// not, and an ended one is not run again.
func TestAnew(t *testing.T) {
	for _, control := range []plan.Control{plan.ScaffoldPoint, plan.ScaffoldMean} {
		whole := mustTrain(t, phased(t, control, 12))
		cfg := phased(t, control, 12)
		cfg.Dir = t.TempDir()
		ctx, cancel := context.WithCancel(t.Context())
		cfg.Progress = func(c *Curve) {
			if c.Last() == 5 {
				cancel()
			}
		}
		if _, err := Train(ctx, cfg); !errors.Is(err, context.Canceled) {
			t.Fatalf("%v: %v, want canceled", control, err)
		}
		cfg.Progress = nil
		again := mustTrain(t, cfg)
		if !reflect.DeepEqual(timeless(whole.Curve), timeless(again.Curve)) {
			t.Errorf("%v: after a stop:\n%v\nwithout one:\n%v",
				control, again.Curve.Points, whole.Curve.Points)
		}
		if kept := mustTrain(t, cfg); kept.Totals.Up.Messages != 0 || len(kept.Curve.Points) != 12 {
			t.Errorf("%v: an ended run was run again: %+v", control, kept.Totals)
		}
	}
}

// TestWorkOfSurveys counts the losses of a survey, and its minibatch.
func TestWorkOfSurveys(t *testing.T) {
	cfg := phased(t, plan.NoControl, 5)
	cfg.Plan.Control, cfg.Plan.Steps, cfg.Order = plan.NoControl, 1, Walk
	if err := planfile.Set(cfg.Plan, "mu", "auto"); err != nil {
		t.Fatal(err)
	}
	var asked atomic.Uint64
	loss := cfg.Task.Loss
	cfg.Task.Loss = func(x []float32, samples []int) float64 {
		asked.Add(1)
		return loss(x, samples)
	}
	r := mustTrain(t, cfg)
	if got := r.Curve.Points[4].Queries; len(r.Curve.Points) != 5 || got != asked.Load() {
		t.Errorf("%d queries, %d were asked", got, asked.Load())
	}
	batches, err := taken(t.Context(), r.Log, &cfg)
	if err != nil {
		t.Fatal(err)
	}
	var all uint64
	for _, n := range batches {
		all += n
	}
	if want := uint64(3 * (5 + 1)); all != want { // three clients a round, and a survey
		t.Errorf("%d minibatches, want %d", all, want)
	}
}
