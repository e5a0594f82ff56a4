// Package objective has the interfaces that an app implements: the loss that a device evaluates,
// and optionally metrics, a sample count and a policy. The package knows nothing of runs, networks
// or logs.
//
// An [Objective] has one of three forms. A [Flat] loss takes the parameters as one vector; [Func]
// makes a Flat loss of a function. A [Streaming] loss reads the parameters block by block, so that
// the runtime makes no copy of a perturbed model. A [Batched] loss evaluates all points of a step
// in one pass over the weights. The runtime prefers Batched to Streaming, and Streaming to Flat.
//
// An objective may also implement [Evaluator], [Sampler] and [Policy], and [Classed] for plans with
// classes. If the app can differentiate its loss, the objective may implement [Differentiable],
// [Directional] or [StreamingDirectional]. The runtime finds these interfaces by type assertion.
//
// The runtime calls all methods from one goroutine at a time. A call that fails, panics or hangs
// costs the device only its contribution to that round.
package objective

import (
	"context"
	"errors"
	"time"
)

// An Objective is a model that the app can evaluate. An Objective also implements [Flat],
// [Streaming] or [Batched].
type Objective interface {
	// Dim is the number of parameters. Dim never changes.
	Dim() int
}

// Flat is an [Objective] whose loss takes the parameters as one vector.
type Flat interface {
	Objective
	// Loss returns the mean loss on minibatch b at parameters x, which have Dim elements. x belongs to
	// the runtime and is valid until Loss returns. The runtime ignores changes that Loss makes to x.
	// ctx ends when the round does: then return early, with any error.
	Loss(ctx context.Context, x []float32, b Batch) (float64, error)
}

// Streaming is an [Objective] that reads parameters block by block. So the runtime needs no flat
// copy of a perturbed model.
type Streaming interface {
	Objective
	// LossAt is the Loss of [Flat] at the parameters that x reads.
	LossAt(ctx context.Context, x *Point, b Batch) (float64, error)
}

// Batched is an [Objective] that evaluates all points of a local step in one pass over the model.
// Use Batched where loading weights costs more than computing with them: for models that exceed a
// cache or come from flash, and for engines that take a batch of weights. The app loads each weight
// once for all points. The runtime generates each direction once for both sides of a difference.
// The price is memory: Batched needs one block for each of [Points.Len] points, and Streaming needs
// only one block.
//
// An app that sums its loss layer by layer keeps one sum for each point:
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
	Objective
	// LossesAt sets losses[i] to the mean loss on minibatch b at point i, for all Len points of x. The
	// rules of [Flat].Loss hold here, too. x and losses belong to the runtime and are valid until
	// LossesAt returns. The runtime fills losses with NaN first, to detect those that the app does not
	// set. A call counts as Len queries.
	LossesAt(ctx context.Context, x *Points, b Batch, losses []float64) error
}

// An Evaluator can also measure the model on held-out data. With a [Streaming] or [Batched]
// objective, an Evaluator costs the runtime a flat copy of the parameters, unless it is also a
// [StreamingEvaluator].
type Evaluator interface {
	// Evaluate returns the plan's metrics at x, in the plan's order, and the number of samples of
	// which they are means. That number is the weight of this device's metrics among those of all
	// devices. ctx ends after five minutes. If a round asks this device meanwhile, ctx ends earlier:
	// when half of that round's time is over. Then return early, with any error: until Evaluate
	// returns, the device declines every round.
	Evaluate(ctx context.Context, x []float32) (values []float64, samples int, err error)
}

// A StreamingEvaluator is an [Evaluator] that can read the parameters block by block. A device
// calls EvaluateAt in place of Evaluate, and makes no flat copy of the parameters.
type StreamingEvaluator interface {
	Evaluator
	// EvaluateAt is Evaluate at the parameters that x reads. x is valid until EvaluateAt returns.
	EvaluateAt(ctx context.Context, x *Point) (values []float64, samples int, err error)
}

// A Sampler knows how many samples the device has. Plans with weights=samples use that number as
// the device's weight; without a Sampler the weight is 1. No minibatch is larger than that number,
// whatever the plan says. A number below 1 means unknown.
type Sampler interface {
	Samples() int
}

// A Policy decides whether the device may work now, for example by battery, charging or a metered
// network. If the policy says no, the device declines the round, so that the round does not wait
// for it.
type Policy interface {
	MayWork(Work) bool
}

// Work describes the work that a round asks of the device.
type Work struct {
	N         uint64        // index of the record that the round makes
	Queries   uint64        // loss evaluations
	Gradients uint64        // calls of Gradient or Slope; if not 0, they replace the queries
	Left      time.Duration // until the round closes; with late work, until the work no longer counts
}

// ErrBusy says that the code behind an objective, such as a program, has not answered an earlier
// call, whose round is over. A device declines the round if its objective returns an error that
// matches ErrBusy. The device may be asked again at once.
var ErrBusy = errors.New("an earlier call has not returned")

// A Batch names a minibatch. In one local step, the runtime asks for all losses on the same
// minibatch, for all perturbations and both sides of each difference. To draw the same minibatch
// each time, draw Size samples with a generator that takes only Seed.
type Batch struct {
	N    uint64 // index of the record that the round makes
	Step int    // local step, from 0
	Size int    // samples, at most as many as a Sampler has; 0: all of the device's data
	Seed uint64 // differs by run, device, record and step
}

// Func makes a [Flat] objective of a loss over a flat vector of dim parameters.
func Func(
	dim int, loss func(ctx context.Context, x []float32, b Batch) (float64, error),
) Flat {
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

// Stream makes a [Streaming] objective of a loss that reads dim parameters block by block.
func Stream(
	dim int, loss func(ctx context.Context, x *Point, b Batch) (float64, error),
) Streaming {
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

// Many makes a [Batched] objective of a function that sets the losses at all points of a step, in a
// model of dim parameters.
func Many(
	dim int, losses func(ctx context.Context, x *Points, b Batch, losses []float64) error,
) Batched {
	return manyFunc{dim, losses}
}

type manyFunc struct {
	dim    int
	losses func(context.Context, *Points, Batch, []float64) error
}

func (f manyFunc) Dim() int { return f.dim }

func (f manyFunc) LossesAt(
	ctx context.Context, x *Points, b Batch, losses []float64,
) error {
	return f.losses(ctx, x, b, losses)
}
