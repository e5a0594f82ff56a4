package tune_test

import (
	"context"
	"fmt"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/fleet/tune"
	"github.com/zofl/zofl/plan/preset"
)

// The step of this plan is far too small for its loss. Run finds another step by trials on devices
// of this process.
func Example() {
	plan, err := preset.New("decomfl", "points", 2)
	if err != nil {
		fmt.Println(err)
		return
	}
	plan.Rounds, plan.StepSize = 1000, 1e-5
	var devices []objective.Objective
	for i := range 3 {
		px, py := float64(i), float64(2*i)
		devices = append(devices, objective.Func(2, func(_ context.Context, x []float32,
			_ objective.Batch) (float64, error) {
			a, b := float64(x[0])-px, float64(x[1])-py
			return a*a + b*b, nil
		}))
	}
	found, err := tune.Run(context.Background(), tune.Config{Plan: plan, Devices: devices,
		Fields: []string{"step"}, Seed: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("%s %.2g, loss %.2f instead of %.2f\n", found.Field, found.Plan.StepSize, found.Loss,
		found.Start)
	// Output: step 0.66, loss 3.33 instead of 8.33
}
