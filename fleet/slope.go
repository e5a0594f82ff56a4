package fleet

import (
	"context"
	"math"
	"math/rand/v2"

	"github.com/zofl/zofl/client/objective"
)

// lossOf returns the loss of an objective as a function of a vector, or nil if the objective has no
// loss.
func lossOf(o objective.Objective) func(context.Context, []float32, objective.Batch) (float64,
	error) {
	switch o := o.(type) {
	case objective.Batched:
		return func(ctx context.Context, x []float32, b objective.Batch) (float64, error) {
			losses := []float64{math.NaN()}
			err := o.LossesAt(ctx, objective.NewPoints(x), b, losses)
			return losses[0], err
		}
	case objective.Streaming:
		return func(ctx context.Context, x []float32, b objective.Batch) (float64, error) {
			return o.LossAt(ctx, objective.NewPoint(x), b)
		}
	case objective.Flat:
		return o.Loss
	}
	return nil
}

// An along predicts how much a device's loss rises along a vector, from the device's gradient or
// slopes.
type along struct {
	slope func(z []float32) (float64, error)
	g     []float32 // the gradient, if the device has it
	dim   int
}

func (a along) along(z []float32) (float64, error) { return a.slope(z) }

// direction returns a vector of length 1 along which the loss changes: the gradient's direction, or
// the steepest of four random directions. The result is nil if the loss changes along none of them.
func (a along) direction() ([]float64, error) {
	if a.g != nil {
		return unit(a.g), nil
	}
	var best []float32
	most := 0.0
	for i := range 4 {
		z := signs(a.dim, uint64(i))
		s, err := a.slope(append([]float32(nil), z...))
		if err != nil {
			return nil, err
		}
		if math.Abs(s) > most {
			best, most = z, math.Abs(s)
		}
	}
	return unit(best), nil
}

// riseOf returns a function that predicts the rise of a device's loss around x from the device's
// gradient or slopes. riseOf returns nil if the device has neither.
func riseOf(o objective.Objective) func(context.Context, []float32, objective.Batch) (along,
	error) {
	switch o := o.(type) {
	case objective.Differentiable:
		return func(ctx context.Context, x []float32, b objective.Batch) (along, error) {
			g := make([]float32, len(x))
			for i := range g {
				g[i] = float32(math.NaN()) // as the runtime does
			}
			_, err := o.Gradient(ctx, x, b, g)
			return along{g: g, slope: func(z []float32) (sum float64, _ error) {
				for i, v := range z {
					sum += float64(v) * float64(g[i])
				}
				return sum, nil
			}}, err
		}
	case objective.StreamingDirectional:
		return slopes(func(ctx context.Context, x, z []float32, b objective.Batch) (_, slope float64,
			err error) {
			return o.SlopeAt(ctx, objective.NewPoint(x), objective.NewPoint(z), b)
		})
	case objective.Directional:
		return slopes(o.Slope)
	}
	return nil
}

func slopes(slope func(ctx context.Context, x, z []float32, b objective.Batch) (_, slope float64,
	err error)) func(context.Context, []float32, objective.Batch) (along, error) {
	return func(ctx context.Context, x []float32, b objective.Batch) (along, error) {
		return along{dim: len(x), slope: func(z []float32) (float64, error) {
			_, s, err := slope(ctx, append([]float32(nil), x...), z, b)
			return s, err
		}}, nil
	}
}

// unit returns v scaled to the length 1, or nil if the length of v is not a positive number.
func unit(v []float32) []float64 {
	sum := 0.0
	for _, e := range v {
		sum += float64(e) * float64(e)
	}
	length := math.Sqrt(sum)
	if !(length > 0) || math.IsInf(length, 0) {
		return nil
	}
	u := make([]float64, len(v))
	for i, e := range v {
		u[i] = float64(e) / length
	}
	return u
}

// signs returns a random vector of +-1. The same seed gives the same vector.
func signs(dim int, seed uint64) []float32 {
	rng, z := rand.New(rand.NewPCG(seed, 0)), make([]float32, dim)
	for i := range z {
		z[i] = float32(2*rng.IntN(2) - 1)
	}
	return z
}
