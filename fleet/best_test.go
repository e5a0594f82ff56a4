package fleet_test

import (
	"context"
	"testing"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/fleet"
)

// A scripted objective has one value for each evaluation, in order.
type scripted struct {
	bowl
	values []float64
}

func (s *scripted) Evaluate(context.Context, []float32) ([]float64, int, error) {
	v := s.values[0]
	if len(s.values) > 1 {
		s.values = s.values[1:]
	}
	return []float64{v}, 1, nil
}

// TestBest: the result has the model of the best evaluation, and patience ends the run.
func TestBest(t *testing.T) {
	p := newPlan(t, "decomfl", 10, 95)
	p.EvalEvery, p.EvalCount, p.Metrics, p.Best = 10, 1, []string{"accuracy"}, "accuracy"
	run := func() *fleet.Result {
		r, err := fleet.Run(t.Context(), p, []objective.Objective{
			&scripted{bowl{dim: 10, at: 1}, []float64{0.5, 0.75, 0.875, 0.25, 0.75}},
			&bowl{dim: 10, at: 2}}, fleet.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	r := run()
	if r.Best == nil || r.Best.N != 30 || r.Best.Round != 29 || r.Best.Value != 0.875 ||
		r.Best.Since != 7 || r.Ended != "rounds" {
		t.Fatalf("the best is %+v, ended %q", r.Best, r.Ended)
	}
	p.Patience = 3
	short := run()
	if n := len(short.Rounds); short.Ended != "patience" || n != 59 || short.Best.N != 30 {
		t.Errorf("ended %q after %d rounds, the best is %+v", short.Ended, n, short.Best)
	}
	p.Rounds, p.Patience = 29, 0
	if same := run(); !equalParams(same.Params, r.Best.Params) || equalParams(r.Params, same.Params) {
		t.Error("the best model is not the model after its round")
	}
}

func equalParams(a, b []float32) bool {
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return len(a) == len(b)
}

// TestBestLoss: best=loss is the training loss, whose values are those of ten rounds.
func TestBestLoss(t *testing.T) {
	p := newPlan(t, "decomfl", 10, 40)
	p.StepSize, p.Best = 0.01, "loss"
	r, err := fleet.Run(t.Context(), p, objectives(bowls(2, 10)), fleet.Options{})
	if err != nil || r.Best == nil || r.Best.Round != 40 || !r.Best.Lowest {
		t.Errorf("%v, the best is %+v", err, r.Best)
	}
}
