package models

import (
	"math/rand/v2"

	"github.com/zofl/zofl/coordinator/zofl/softmax"
	"github.com/zofl/zofl/plan"
)

// initialStream is the second word of the generator's seed.
const initialStream = 0x696e697469616c73

// A Model holds samples, and computes the loss over these samples as a function of one flat
// parameter vector. Any number of goroutines may use one Model.
//
// Loss panics if params is not Dim long, and if batch is empty or holds an index that no sample
// has. [softmax.Mean] and [softmax.Evaluate] give the accuracy, too.
type Model interface {
	softmax.Scorer
	// Segments returns the layers in the order of the parameters, with the model's usual
	// initialization, for a plan's Segments.
	Segments() []plan.Segment
	// Loss returns the mean loss over the samples named by batch.
	Loss(params []float32, batch []int) float64
}

// A Differentiable is a Model with a gradient, for training by gradients.
type Differentiable interface {
	Model
	// Gradient returns the mean loss over the samples named by batch, and adds
	// the gradient of that mean to grad, which is Dim long.
	Gradient(grad, params []float32, batch []int) (loss float64)
}

// Initial returns the parameter vector from which a training starts, as m.Segments specifies: all
// the models here fill a segment uniformly or with zeros. Use Initial for training outside of a
// run; in a run, each replica draws the initial parameters from the plan.
func Initial(m Model, seed uint64) []float32 {
	out := make([]float32, 0, m.Dim())
	rng := rand.New(rand.NewPCG(seed, initialStream))
	for _, s := range m.Segments() {
		for range s.Len {
			if s.Fill == plan.UniformFill {
				out = append(out, s.Scale*(2*rng.Float32()-1))
			} else {
				out = append(out, 0)
			}
		}
	}
	return out
}
