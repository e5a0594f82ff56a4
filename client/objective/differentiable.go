package objective

import "context"

// A Differentiable objective also has the gradient of its loss, for instance from a backward pass.
// The runtime then asks for gradients instead of losses, projects each gradient on the round's
// directions, and sends the same scalars as other devices. So devices with gradients and devices
// with losses train one model in one run, and send equally many bytes. The scalars are the limits
// of difference quotients for mu to 0. A local step takes one call, whatever P is. With
// estimator=surrogate the runtime still asks for losses, because it fits the surrogate to losses.
// CheckGradient of package fleet detects a gradient with a wrong sign or scale.
//
// A Differentiable objective costs the device two vectors of d floats, x and g.
type Differentiable interface {
	Objective
	// Gradient sets g to the gradient of the mean loss on minibatch b at parameters x, and returns
	// that loss. Both vectors have Dim elements and belong to the runtime. Both vectors are valid
	// until Gradient returns. The runtime ignores changes that Gradient makes to x. The runtime fills
	// g with NaN first, to detect elements that the app does not set, or only adds to. ctx ends when
	// the round does: then return early, with any error.
	Gradient(ctx context.Context, x []float32, b Batch, g []float32) (loss float64, err error)
}

// A Directional objective also has the derivative of its loss along a direction, for instance from
// forward-mode differentiation. The runtime then asks for derivatives instead of differences: one
// derivative for each of the P directions of a local step. Everything else is as with
// [Differentiable].
//
// A Directional objective costs the device two vectors of d floats, x and z.
type Directional interface {
	Objective
	// Slope returns the mean loss on minibatch b at parameters x, and the derivative of that loss
	// along z. z includes the plan's factors on mu, so its length is not 1. The rules of
	// [Differentiable].Gradient for vectors and ctx hold here, too.
	//
	//	slope = limit for t to 0 of (loss(x + t z) - loss(x))/t
	Slope(ctx context.Context, x, z []float32, b Batch) (loss, slope float64, err error)
}

// A StreamingDirectional objective is a [Directional] one that reads parameters and directions
// block by block. So the runtime needs no flat copy of parameters or directions. The app computes
// while it reads: layer by layer, the layer's outputs and their derivatives. The runtime prefers
// Differentiable to StreamingDirectional, and StreamingDirectional to Directional.
type StreamingDirectional interface {
	Objective
	// SlopeAt is the Slope of [Directional] at the parameters that x reads, along the vector that z
	// reads. x and z are valid until SlopeAt returns.
	SlopeAt(ctx context.Context, x, z *Point, b Batch) (loss, slope float64, err error)
}
