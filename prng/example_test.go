package prng_test

import (
	"fmt"

	"github.com/zofl/zofl/prng"
)

// A device probes a model along a direction, and every replica applies the result. Nobody sends the
// direction.
func Example() {
	z := prng.Direction{
		Key:          prng.RecordKey([]byte("public seed"), 2),
		Perturbation: 1,
		Source:       prng.Shared,
		Dist:         prng.Rademacher,
	}
	model := []float32{1, 2, 3, 4}
	probe := make([]float32, len(model))
	prng.Perturb(probe, model, 0.5, z, 0)
	fmt.Println("probe:", probe)

	const slope, stepSize = 2, 0.125
	prng.Sum(model, []prng.Term{{A: -stepSize * slope, Z: z}}, 0)
	fmt.Println("model:", model)
	// Output:
	// probe: [1.5 1.5 3.5 4.5]
	// model: [0.75 2.25 2.75 3.75]
}
