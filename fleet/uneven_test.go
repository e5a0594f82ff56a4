package fleet_test

import (
	"context"
	"testing"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/fleet"
	"github.com/zofl/zofl/plan/preset"
)

// TestUnevenParameters: if a loss is far steeper along one parameter than along the others, devices
// find a step that suits the steep parameter. While the loss falls, steps then grow fast.
func TestUnevenParameters(t *testing.T) {
	const rounds = 80
	plan, err := preset.New("zofl", "uneven", 3)
	if err != nil {
		t.Fatal(err)
	}
	plan.Members, plan.Target, plan.Quorum, plan.Rounds = 3, 3, 3, rounds
	plan.RunKey = make([]byte, 32)
	loss := func(x []float32) float64 {
		a, b, c := float64(x[0])-1, float64(x[1])-30, float64(x[2])+30
		return 100*a*a + b*b + c*c
	}
	device := objective.Func(3,
		func(_ context.Context, x []float32, _ objective.Batch) (float64, error) { return loss(x), nil })
	result, err := fleet.Run(t.Context(), plan, []objective.Objective{device, device, device},
		fleet.Options{})
	if err != nil {
		t.Fatal(err)
	}
	first, last := loss(make([]float32, 3)), loss(result.Params)
	t.Logf("the loss fell from %.4g to %.4g, steps from %.3g to %.3g", first, last,
		result.Rounds[5].RoundStep, result.Rounds[rounds/2].RoundStep)
	if last > 0.1*first {
		t.Errorf("the loss fell from %.4g to %.4g, want a tenth of it", first, last)
	}
}
