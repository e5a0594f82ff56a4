package fleet_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/fleet"
	"github.com/zofl/zofl/plan"
)

// A judge is a bowl that evaluates the model.
type judge struct {
	bowl
	samples int
}

func (j *judge) Evaluate(_ context.Context, x []float32) ([]float64, int, error) {
	return []float64{j.mean(x), 1}, j.samples, nil
}

// TestMetrics: devices with an Evaluator measure metrics after the records that the plan names, and
// a metric may end the run.
func TestMetrics(t *testing.T) {
	p := newPlan(t, "decomfl", 30, 95)
	p.StepSize, p.EvalEvery, p.EvalCount, p.Metrics = 0.02, 10, 2, []string{"loss", "one"}
	devices := objectives(bowls(2, 30))
	for _, samples := range []int{1, 3, 9} { // the last is one too many
		devices = append(devices, &judge{bowl{dim: 30, at: float64(samples)}, samples})
	}
	r, err := fleet.Run(t.Context(), p, devices, fleet.Options{})
	if err != nil {
		t.Fatal(err)
	}
	var measured []uint64
	for _, round := range r.Rounds {
		if round.Metrics != nil {
			measured = append(measured, round.Round)
		}
	}
	// The record of round r is r+1.
	if want := []uint64{9, 19, 29, 39, 49, 59, 69, 79, 89, 95}; !slices.Equal(measured, want) {
		t.Errorf("measured after rounds %v, want %v", measured, want)
	}
	last := r.Rounds[94].Metrics
	one, three := &bowl{at: 1}, &bowl{at: 3}
	if want := (one.mean(r.Params) + 3*three.mean(r.Params)) / 4; math.Abs(last[0]-want) > 1e-12 ||
		last[1] != 1 {
		t.Errorf("metrics %v, want %v and 1", last, want)
	}
	p.StopMetric, p.StopWhen, p.StopValue = "loss", plan.Below, 6
	r, err = fleet.Run(t.Context(), p, devices, fleet.Options{})
	if n := len(r.Rounds); err != nil || n == 95 || n == 0 || r.Rounds[n-1].Metrics[0] >= 6 ||
		!strings.Contains(r.Ended, "loss is") {
		t.Errorf("%v, ended %q after %d rounds", err, r.Ended, n)
	}
	p.StopMetric, p.StopWhen, p.StopValue = "", 0, 0
	p.Metrics = append(p.Metrics, "more")
	r, err = fleet.Run(t.Context(), p, devices, fleet.Options{})
	if err != nil || r.Rounds[94].Metrics != nil || r.Devices[3].Unmeasured == nil ||
		!strings.Contains(r.Devices[2].Unmeasured.Error(), "2 values") {
		t.Errorf("too few values: %v, devices %+v", err, r.Devices)
	}
}

// TestUnmeasured: if a device's evaluation fails or gives no number, the metrics are means over the
// other devices.
func TestUnmeasured(t *testing.T) {
	p := newPlan(t, "decomfl", 30, 9)
	p.StepSize, p.EvalEvery, p.EvalCount, p.Metrics = 0.02, 5, 4, []string{"loss", "one"}
	nan := math.NaN()
	devices := []objective.Objective{&judge{bowl{dim: 30, at: 1}, 0}, &judge{bowl{dim: 30, at: 1}, 2},
		&judge{bowl{dim: 30, at: nan}, 2}, &judge{bowl{dim: 30, at: 3}, 2}}
	p.Target, p.Quorum = 3, 2
	r, err := fleet.Run(t.Context(), p, devices, fleet.Options{})
	if err != nil {
		t.Fatal(err)
	}
	one, three := &bowl{at: 1}, &bowl{at: 3}
	want := (one.mean(r.Params) + three.mean(r.Params)) / 2
	if got := r.Rounds[8].Metrics; len(got) != 2 || math.Abs(got[0]-want) > 1e-12 {
		t.Errorf("metrics %v, want %v", got, want)
	}
	for i, d := range r.Devices {
		if (d.Unmeasured != nil) != (i == 0 || i == 2) {
			t.Errorf("device %d was left out: %v", i, d.Unmeasured)
		}
	}
}
