package objective

import "context"

// A Differentiable objective also has the gradient of its loss, for instance from a backward
// pass. The runtime then asks for that instead of losses, projects it on the round's
// directions, and sends the same scalars that black boxes send. So devices of both kinds
// train one model in one run, at the same bytes. The scalars are the limits of the black
// boxes' difference quotients for mu to 0, at one call a local step, whatever P is. A plan
// with estimator=surrogate asks for losses all the same, because it learns from them.
// CheckGradient of package fleet finds a gradient of the wrong sign or scale.
//
// It costs the device two vectors of d floats, x and g.
type Differentiable interface {
	Objective
	// Gradient sets g to the gradient, at parameters x, of the mean loss on minibatch b, and
	// returns that loss. Both vectors have Dim elements, and are the runtime's, valid until
	// Gradient returns; the runtime ignores what Gradient writes to x. The runtime sets g to
	// NaN first, so that it finds an element that the app forgot, or only added to. ctx ends
	// when the round does: return early then, with any error.
	Gradient(ctx context.Context, x []float32, b Batch, g []float32) (loss float64, err error)
}

// A Directional objective also has the derivative of its loss along a direction, for instance
// from forward-mode differentiation. The runtime then asks for that instead of differences,
// once for each of the P directions of a local step. All else is as with [Differentiable].
//
// It costs the device two vectors of d floats, x and z.
type Directional interface {
	Objective
	// Slope returns, at parameters x, the mean loss on minibatch b and its derivative along
	// z. z includes the plan's factors on mu, and is not of unit length. The terms for
	// vectors and ctx are those of [Differentiable].Gradient.
	//
	//	slope = limit for t to 0 of (loss(x + t z) - loss(x))/t
	Slope(ctx context.Context, x, z []float32, b Batch) (loss, slope float64, err error)
}

// A StreamingDirectional objective is a [Directional] one that reads parameters and directions
// block by block, so that the runtime makes no flat copy of either. It computes with both as it
// reads them: layer by layer, the layer's outputs and their derivatives. The runtime takes
// [Differentiable] before StreamingDirectional before Directional.
type StreamingDirectional interface {
	Objective
	// SlopeAt is as Slope of [Directional], at the parameters that x reads, along the vector
	// that z reads. Both are valid until SlopeAt returns.
	SlopeAt(ctx context.Context, x, z *Point, b Batch) (loss, slope float64, err error)
}
