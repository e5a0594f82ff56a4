package mobile

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"

	"github.com/zofl/zofl/client/objective"
)

// An Objective is the app's loss in simple mode: it gets the whole model at once, of at most
// [MaxBlock] parameters.
type Objective interface {
	// Loss returns the mean loss on this device's data at parameters params: Dim
	// little-endian float32, read-only and valid during the call. In Java wrap them once a
	// call:
	//
	//	FloatBuffer x = ByteBuffer.wrap(params).order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer();
	//
	// One thread at a time calls it, not always the same. An error, an exception, NaN or a hang costs
	// only that one round.
	Loss(params []byte) (float64, error)
}

// A BlockObjective is the app's loss in block mode: it reads the parameters from a [Round] into its
// engine's own buffers, and gets the minibatch.
type BlockObjective interface {
	// Loss returns the mean loss at the parameters of r on r's minibatch. Threads and
	// errors are as for Objective.
	Loss(r *Round) (float64, error)
}

var errReleased = errors.New("the client was stopped")

// callbacks holds the app's objects until release drops them.
type callbacks struct {
	mu        sync.Mutex
	whole     Objective // of whole, byBlocks and byBatches one is not nil
	byBlocks  BlockObjective
	byBatches BatchObjective
	evaluator Evaluator
	consent   Consent
	trust     Trust
}

// release drops the app's objects. An object whose callback is running stays until the callback
// returns.
func (c *callbacks) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.clear()
}

// clear drops the app's objects. The caller holds mu.
func (c *callbacks) clear() {
	c.whole, c.byBlocks, c.byBatches = nil, nil, nil
	c.evaluator, c.consent, c.trust = nil, nil, nil
}

// moved returns the app's objects in new callbacks, and drops them from c.
func (c *callbacks) moved() *callbacks {
	c.mu.Lock()
	defer c.mu.Unlock()
	to := &callbacks{whole: c.whole, byBlocks: c.byBlocks, byBatches: c.byBatches,
		evaluator: c.evaluator, consent: c.consent, trust: c.trust}
	c.clear()
	return to
}

// take sets the callbacks of c to those of from. It undoes moved.
func (c *callbacks) take(from *callbacks) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.whole, c.byBlocks, c.byBatches = from.whole, from.byBlocks, from.byBatches
	c.evaluator, c.consent, c.trust = from.evaluator, from.consent, from.trust
}

// held returns the callback that which returns, or nil. held calls which with mu held.
func held[T any](c *callbacks, which func() T) T {
	c.mu.Lock()
	defer c.mu.Unlock()
	return which()
}

// A device is the common part of all kinds of objective.
type device struct {
	*callbacks
	dim     int
	samples int
	workers int
	policy  *policy
	seen    atomic.Pointer[Plan] // the plan about which the client asked Consent last
}

func (d *device) Dim() int                         { return d.dim }
func (d *device) Samples() int                     { return d.samples }
func (d *device) MayWork(work objective.Work) bool { return d.policy.blocked() == "" }

// simple is an objective in simple mode.
type simple struct{ *device }

var _ objective.Flat = simple{}

func (s simple) Loss(_ context.Context, x []float32, _ objective.Batch) (float64, error) {
	o := held(s.callbacks, func() Objective { return s.whole })
	if o == nil {
		return 0, errReleased
	}
	loss, err := o.Loss(bytesOf(x))
	return loss, said(err)
}

// blocks is an objective in block mode.
type blocks struct{ *device }

var _ objective.Streaming = blocks{}

func (b blocks) LossAt(ctx context.Context, x *objective.Point, batch objective.Batch) (float64,
	error) {
	o := held(b.callbacks, func() BlockObjective { return b.byBlocks })
	if o == nil {
		return 0, errReleased
	}
	loss, err := o.Loss(&Round{ctx, x, batch, b.seen.Load()})
	return loss, said(err)
}

// objective returns the app's loss, and its evaluator if there is one, in the form that package
// client takes.
func (d *device) objective() objective.Objective {
	e := evaluatorAdapter{d}
	switch {
	case d.whole != nil && d.evaluator != nil:
		return struct {
			simple
			evaluatorAdapter
		}{simple{d}, e}
	case d.whole != nil:
		return simple{d}
	case d.byBatches != nil && d.evaluator != nil:
		return struct {
			batches
			evaluatorAdapter
		}{batches{d}, e}
	case d.byBatches != nil:
		return batches{d}
	case d.evaluator != nil:
		return struct {
			blocks
			evaluatorAdapter
		}{blocks{d}, e}
	}
	return blocks{d}
}
