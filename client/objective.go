package client

import (
	"context"
	"errors"
	"time"
)

// An Objective is the app's loss: all that Zofl needs to know of a model. Its
// methods are called by one goroutine at a time.
type Objective interface {
	// Dim is the number of parameters; it never changes.
	Dim() int
	// Loss returns the mean loss at parameters x on minibatch b. x is the
	// caller's buffer, valid until Loss returns; what is written to it is
	// lost. ctx ends when the round does: return early then, with any error.
	Loss(ctx context.Context, x []float32, b Batch) (float64, error)
}

// Streaming is an [Objective] that reads parameters block by block, so that
// the runtime makes no flat copy of a perturbed model. Where it is
// implemented, Loss is not called.
type Streaming interface {
	LossAt(ctx context.Context, x *Point, b Batch) (float64, error)
}

// Batched is an [Objective] that evaluates all points of a local step in one pass
// over the model. It pays where a pass costs more than what is done with it: for
// models that are larger than a cache or come from flash, and for engines that take
// a batch of weights. Weights that were loaded serve for all points, and a direction
// is generated once for both sides of a difference. The price is memory: blocks of
// [Points.Len] points at a time, where [Streaming] has one. Where it is implemented,
// Loss and LossAt are not called.
//
// An app that sums its loss layer by layer keeps a sum for each point:
//
//	clear(losses)
//	for off := 0; off < x.Dim(); off += 4096 {
//		if err := x.Read(blocks, off); err != nil {
//			return err
//		}
//		for i := range losses {
//			losses[i] += part(blocks[i], off)
//		}
//	}
type Batched interface {
	// LossesAt sets losses[i] to the mean loss at point i, for all Len points of x
	// on minibatch b, under the terms of [Objective].Loss. Both are the caller's,
	// valid until LossesAt returns. Where it is called losses are NaN, so that one
	// that was forgotten is found. It counts as Len queries.
	LossesAt(ctx context.Context, x *Points, b Batch, losses []float64) error
}

// An Evaluator is an [Objective] that can also measure the model on held-out
// data. x is as in Loss; with a [Streaming] or [Batched] objective it costs a copy
// of the parameters.
type Evaluator interface {
	// Evaluate returns the plan's metrics in the plan's order, and the number
	// of samples they are means over, their weight among devices. ctx ends
	// after five minutes, or earlier where a round asks the device meanwhile:
	// when half of that round's time is over. Return early then, with any
	// error: until it returns, the device declines what it is asked.
	Evaluate(ctx context.Context, x []float32) (values []float64, samples int, err error)
}

// A Sampler is an [Objective] that knows how many local samples its loss is
// over; plans with weights=samples use it. Without it the weight is 1.
type Sampler interface {
	Samples() int
}

// A Policy is an [Objective] that says whether the device may work now
// (battery, charging, a metered network). A device that may not declines the
// round, so that nobody waits for it.
type Policy interface {
	MayWork(Work) bool
}

// Work is what a round asks of the device.
type Work struct {
	N       uint64        // record that is being made
	Queries uint64        // loss evaluations
	Left    time.Duration // until the round closes
}

// A Batch names a minibatch: the same one for all perturbations of a step and
// both sides of a difference. Whoever draws Size samples with a generator
// seeded by Seed alone can draw it again.
type Batch struct {
	N    uint64 // record that is being made
	Step int    // local step, from 0
	Size int    // samples; 0 is all of the device's data
	Seed uint64 // of the draw: differs by run, device, record and step
}

// Func makes an [Objective] of a function over a flat vector of dim
// parameters.
func Func(dim int, loss func(ctx context.Context, x []float32, b Batch) (float64, error)) Objective {
	return flatFunc{dim, loss}
}

type flatFunc struct {
	dim  int
	loss func(context.Context, []float32, Batch) (float64, error)
}

func (f flatFunc) Dim() int { return f.dim }

func (f flatFunc) Loss(ctx context.Context, x []float32, b Batch) (float64, error) {
	return f.loss(ctx, x, b)
}

// Stream makes an [Objective] of a function that reads dim parameters block by
// block.
func Stream(dim int, loss func(ctx context.Context, x *Point, b Batch) (float64, error)) Objective {
	return streamFunc{dim, loss}
}

type streamFunc struct {
	dim  int
	loss func(context.Context, *Point, Batch) (float64, error)
}

func (f streamFunc) Dim() int { return f.dim }

func (f streamFunc) LossAt(ctx context.Context, x *Point, b Batch) (float64, error) {
	return f.loss(ctx, x, b)
}

func (f streamFunc) Loss(context.Context, []float32, Batch) (float64, error) {
	return 0, errNoFlatLoss
}

// Many makes an [Objective] of a function that takes the losses at all points of a
// step of dim parameters at once, see [Batched].
func Many(dim int, losses func(ctx context.Context, x *Points, b Batch, losses []float64) error) Objective {
	return manyFunc{dim, losses}
}

type manyFunc struct {
	dim    int
	losses func(context.Context, *Points, Batch, []float64) error
}

func (f manyFunc) Dim() int { return f.dim }

func (f manyFunc) LossesAt(ctx context.Context, x *Points, b Batch, losses []float64) error {
	return f.losses(ctx, x, b, losses)
}

func (f manyFunc) Loss(context.Context, []float32, Batch) (float64, error) {
	return 0, errNoFlatLoss
}

// errNoFlatLoss is for whoever calls Loss of what Stream or Many made; a device does
// not.
var errNoFlatLoss = errors.New("client: a streaming or batched objective has no flat loss")
