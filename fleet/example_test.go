package fleet_test

import (
	"context"
	"fmt"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/fleet"
	"github.com/zofl/zofl/plan/preset"
)

// Five devices, each of which knows one point, find their mean.
func Example() {
	plan, err := preset.New("decomfl", "points", 2)
	if err != nil {
		panic(err)
	}
	plan.Rounds, plan.StepSize = 1000, 0.02

	var devices []objective.Objective
	for i := range 5 {
		px, py := float64(i), float64(2*i) // the device's data
		loss := func(_ context.Context, x []float32, _ objective.Batch) (float64, error) {
			a, b := float64(x[0])-px, float64(x[1])-py
			return a*a + b*b, nil
		}
		devices = append(devices, objective.Func(2, loss))
	}
	result, err := fleet.Run(context.Background(), plan, devices, fleet.Options{})
	if err != nil {
		panic(err)
	}
	last := result.Rounds[len(result.Rounds)-1]
	fmt.Printf("after %d rounds and %d evaluations the model is %.2f\n",
		last.Round, result.Queries, result.Params)
	// Output: after 1000 rounds and 55000 evaluations the model is [2.00 4.00]
}
