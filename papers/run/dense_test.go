package run

import (
	"context"
	"errors"
	"reflect"
	"sync/atomic"
	"testing"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/plan"
)

// vectors is a small training with transport=dense: 8 clients, 3 a phase.
func vectors(t *testing.T, preset string, rounds uint64) Config {
	cfg := digits(t, rounds)
	p, err := Plan(preset, "vectors", 7, cfg.Task.Dim, 8, 3)
	if err != nil {
		t.Fatal(err)
	}
	p.Rounds, p.Batch, p.Steps, p.DenseKeep, p.Diverge = rounds, 16, 2, 2*uint32(rounds), 0
	if p.Estimator == plan.Surrogate {
		p.Features, p.Window, p.Candidates, p.Around = 30, 10, 6, 5
	} else {
		p.Perturbations, p.StepSize = 3, 1e-2
	}
	cfg.Plan = p
	return cfg
}

// densePresets are those whose devices send vectors; with -short the one that is cheap.
func densePresets() []string {
	if testing.Short() {
		return []string{"fedzo-dense"}
	}
	return []string{"fedzo-dense", "fzoos"}
}

// TestVectors: a run with transport=dense is measured at the x that all clients have, and
// every query and every byte counts.
func TestVectors(t *testing.T) {
	for _, preset := range densePresets() {
		cfg := vectors(t, preset, 6)
		var asked, told atomic.Uint64
		loss := cfg.Task.Loss
		cfg.Task.Loss = func(x []float32, samples []int) float64 {
			asked.Add(1)
			return loss(x, samples)
		}
		cfg.Task.Asked = func(x []float32, samples []int, b objective.Batch) {
			if len(x) == cfg.Task.Dim && len(samples) > 0 && b.N > 0 {
				told.Add(1)
			}
		}
		cfg.Measure = func(uint64) bool { return true }
		r := mustTrain(t, cfg)
		if len(r.Curve.Points) != 6 || r.Curve.Ended != "rounds" {
			t.Fatalf("%s: %d points, ended %q", preset, len(r.Curve.Points), r.Curve.Ended)
		}
		first, last := r.Curve.Points[0], r.Curve.Points[5]
		if last.Queries != asked.Load() || told.Load() != asked.Load() {
			t.Errorf("%s: %d queries, %d were asked, %d told",
				preset, last.Queries, asked.Load(), told.Load())
		}
		if first.Values[0] == last.Values[0] {
			t.Errorf("%s: test loss %v after the first round and after the last", preset, last.Values[0])
		}
		// Three clients send x, and w; eight fetch the last round's.
		sent := 4 * cfg.Plan.Dim
		if preset == "fzoos" {
			sent += 4 * uint64(cfg.Plan.Features)
		}
		if up := r.Totals.Up.Bytes; up < 6*3*sent || up > 6*3*sent*3/2 {
			t.Errorf("%s: %d bytes up, want %d and a little", preset, up, 6*3*sent)
		}
		if down := r.Totals.Down.Bytes; down < 6*3*sent || r.Totals.Other.Bytes > sent {
			t.Errorf("%s: %d bytes down, %d others, want %d or more",
				preset, down, r.Totals.Other.Bytes, 6*3*sent)
		}
	}
}

// TestVectorsStopped: a run with transport=dense that was stopped has the same curve as one
// that was not.
func TestVectorsStopped(t *testing.T) {
	for _, preset := range densePresets() {
		whole := mustTrain(t, vectors(t, preset, 6))
		cfg := vectors(t, preset, 6)
		cfg.Dir = t.TempDir()
		ctx, cancel := context.WithCancel(t.Context())
		cfg.Progress = func(c *Curve) {
			if c.Last() == 3 {
				cancel()
			}
		}
		if _, err := Train(ctx, cfg); !errors.Is(err, context.Canceled) {
			t.Fatalf("%s: %v, want canceled", preset, err)
		}
		cfg.Progress = nil
		again := mustTrain(t, cfg)
		a, b := timeless(whole.Curve), timeless(again.Curve)
		for i := range a {
			a[i].Bytes, b[i].Bytes, a[i].TrainLoss, b[i].TrainLoss = 0, 0, 0, 0
		}
		if !reflect.DeepEqual(a, b) || !reflect.DeepEqual(whole.Params, again.Params) {
			t.Errorf("%s: after a stop:\n%v\nwithout one:\n%v", preset, b, a)
		}
		if kept := mustTrain(t, cfg); kept.Totals.Up.Messages != 0 || len(kept.Curve.Points) != 6 {
			t.Errorf("%s: an ended run was run again: %+v", preset, kept.Totals)
		}
	}
}
