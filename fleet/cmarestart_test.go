package fleet_test

import (
	"context"
	"fmt"
	"math"
	"testing"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/fleet"
	"github.com/zofl/zofl/wire"
)

// TestCMARestarts: a run with restarts begins again with twice the candidates where its losses are
// level, and ends with the best model of all starts.
func TestCMARestarts(t *testing.T) {
	learns(t)
	loss := rastrigin(1.7, -2.2)
	solved, restarted := 0, 0
	for seed := range byte(5) {
		p := cmaPlan(t, 1, 2, 2, seed)
		p.Restarts = 4
		least := math.Inf(1)
		device := objective.Func(2,
			func(_ context.Context, x []float32, _ objective.Batch) (float64, error) {
				f := loss(x)
				least = min(least, f)
				return f, nil
			})
		result, err := fleet.Run(t.Context(), p, []objective.Objective{device}, fleet.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var text string
		rollbacks, candidates := 0, uint32(0)
		err = result.Log.Read(t.Context(), 1, func(n uint64, record []byte) bool {
			r, err := wire.DecodeRecord(record)
			if err != nil {
				t.Fatal(err)
			}
			switch r.Kind {
			case wire.KindRollback:
				rollbacks++
				text += fmt.Sprintf(" back to %d;", r.To)
			case wire.KindChange:
				candidates = r.Change.Values.Perturbations
				text += fmt.Sprintf(" %d candidates;", candidates)
			}
			return true
		})
		if err != nil {
			t.Fatal(err)
		}
		restarts := int(p.Restarts - result.Plan.Restarts)
		t.Logf("%d records:%s ended by %s at %.2g, least %.2g", result.Log.Last(), text, result.Ended,
			loss(result.Params), least)
		if restarts > 0 {
			restarted++
		}
		if loss(result.Params) > least+1e-6 {
			t.Errorf("the model has loss %.3g, the best was %.3g", loss(result.Params), least)
		}
		if loss(result.Params) < 1e-8 {
			solved++
		}
	}
	if solved < 4 || restarted == 0 {
		t.Errorf("%d of 5 runs solved, %d restarted", solved, restarted)
	}
}

// TestCMARestartsWithinQueries: where the evaluations end a run within a start, the model is the
// best of all starts.
func TestCMARestartsWithinQueries(t *testing.T) {
	loss := rastrigin(1.7, 1.7)
	for seed := range byte(3) {
		p := cmaPlan(t, 1, 2, 2, seed)
		p.Restarts = 5
		least := math.Inf(1)
		device := objective.Func(2,
			func(_ context.Context, x []float32, _ objective.Batch) (float64, error) {
				least = min(least, loss(x))
				return loss(x), nil
			})
		result, err := fleet.Run(t.Context(), p, []objective.Objective{device},
			fleet.Options{Queries: 2000})
		if err != nil {
			t.Fatal(err)
		}
		// A start that is level ends in a minimum of the loss: close to 0, or near 1, 2, 4, ...
		if got := loss(result.Params); result.Queries > 2000 || got > 5 ||
			math.Abs(got-math.Round(got)) > 0.05 {
			t.Errorf("%d evaluations: loss %.3g, the least was %.3g", result.Queries, got, least)
		}
	}
}

// rastrigin returns a loss of many minima, of which the least is at the optimum.
func rastrigin(optimum ...float64) func(x []float32) float64 {
	return func(x []float32) (f float64) {
		for i, o := range optimum {
			d := float64(x[i]) - o
			f += 10 + d*d - 10*math.Cos(2*math.Pi*d)
		}
		return f
	}
}
