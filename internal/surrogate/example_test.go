package surrogate_test

import (
	"fmt"

	"github.com/zofl/zofl/internal/surrogate"
)

// A Process estimates the gradient of a function from values measured so far.
func ExampleProcess() {
	f := func(x []float64) float64 { return 3 + x[0]*x[0] - 2*x[1] }
	p := surrogate.New(surrogate.Config{Dim: 2, Window: 8, LengthScale: 2, Noise: 1e-9})
	for _, x := range [][]float64{{1, 1}, {1.2, 1}, {1, 1.2}, {0.8, 1.1}, {1.1, 0.8}, {0.9, 0.9},
		{1.2, 1.2}} {
		p.Add(x, f(x))
	}
	at, gradient := []float64{1, 1}, make([]float64, 2)
	p.Gradient(gradient, at)

	candidates := [][]float64{{1.05, 1.05}, {1.5, 1.5}}
	uncertainty := make([]float64, len(candidates))
	p.Uncertainty(uncertainty, candidates)

	fmt.Printf("mean %.1f, gradient %.1f\n", p.Mean(at), gradient)
	fmt.Println("ask where less is known:", candidates[1], uncertainty[1] > uncertainty[0])
	// Output:
	// mean 2.0, gradient [2.0 -2.0]
	// ask where less is known: [1.5 1.5] true
}
