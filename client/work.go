package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/zofl/zofl/wire"
)

// errDeadline is the cause of a round's context when its time is up.
var errDeadline = errors.New("client: the round's time is up")

// work contributes to the round of a, if it asks this device: it computes the
// reply once and sends the same bytes however often it is asked.
func (c *Client) work(ctx context.Context, a *arrival) error {
	plan := c.replica.Plan()
	if !a.Cohort.Has(plan.Run, a.N, a.Attempt, c.slot, c.cfg.ID) {
		return c.record(Progress{State: Waiting})
	}
	tip := c.replica.Hash().Tip()
	if c.reply.n == a.N && c.reply.tip == tip {
		return c.publish(c.reply.frame)
	}
	if err := c.record(Progress{State: Working}); err != nil {
		return err
	}
	ctx, cancel := c.roundContext(ctx, a)
	defer cancel()
	reply, err := c.contribute(ctx, a, plan)
	switch {
	case errors.Is(context.Cause(ctx), errSuperseded):
		return c.record(Progress{State: Waiting, Err: errSuperseded})
	case ctx.Err() != nil && !errors.Is(context.Cause(ctx), errDeadline):
		return context.Cause(ctx)
	}
	reply.N, reply.Tip = a.N, tip
	frame := reply.Append(nil)
	if reply.Kind == wire.Contribution {
		c.reply = sent{a.N, tip, frame}
	}
	if err := c.publish(frame); err != nil {
		return err
	}
	if reply.Kind == wire.Decline {
		c.cfg.Logger.Warn("declined", "record", a.N, "reason", reply.Reason, "err", err)
		return c.record(Progress{State: Waiting, Declined: reply.Reason, Err: err})
	}
	return c.record(Progress{State: Waiting, Contributed: true, Loss: float64(reply.Loss)})
}

// roundContext returns a context that ends with ctx, when the round closes, or
// when a later one is announced.
func (c *Client) roundContext(ctx context.Context, a *arrival) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	ctx, stop := context.WithDeadlineCause(ctx, a.closes, errDeadline)
	quit := make(chan struct{})
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		for {
			select {
			case <-quit:
				return
			case <-c.inbox.arrived:
				if c.inbox.beyond(a.N) {
					cancel(errSuperseded)
					return
				}
			}
		}
	}()
	return ctx, func() {
		close(quit)
		<-gone
		stop()
		cancel(nil)
		c.inbox.wake() // the watch may have taken the token
	}
}

// contribute returns the reply to a round: a contribution, or a decline and
// what was in the way.
func (c *Client) contribute(ctx context.Context, a *arrival, plan *wire.Plan) (wire.Reply, error) {
	work := Work{a.N, plan.Queries(a.Perturbations), time.Until(a.closes)}
	if !c.est.fits(work) {
		return declined(wire.DeclineTime), fmt.Errorf("client: %d queries take %v, %v are left",
			work.Queries, c.est.duration(work.Queries), work.Left)
	}
	if !c.calls.idle(ctx) {
		return declined(wire.DeclineBusy), errors.New("client: the last loss call has not returned")
	}
	if policy, ok := c.cfg.Objective.(Policy); ok {
		allowed, err := c.calls.do(ctx, func() (float64, error) { return asFloat(policy.MayWork(work)), nil })
		if err != nil || allowed == 0 {
			return declined(wire.DeclinePolicy), err
		}
	}
	e := c.estimation(a, plan)
	defer e.release()
	if err := e.run(ctx); err != nil {
		return declined(reasonOf(err)), err
	}
	c.watchZeros(e.scalars)
	return wire.Reply{
		Kind:   wire.Contribution,
		Weight: c.weight(ctx, plan),
		Loss:   float32(e.loss),
		Values: wire.AppendScalars(nil, e.scalars...),
	}, nil
}

func declined(reason wire.DeclineReason) wire.Reply {
	return wire.Reply{Kind: wire.Decline, Reason: reason}
}

func reasonOf(err error) wire.DeclineReason {
	switch {
	case errors.Is(err, errDeadline):
		return wire.DeclineTime
	case errors.Is(err, errTooLarge):
		return wire.DeclineTooLarge
	}
	return wire.DeclineLoss
}

func asFloat(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// weight is this device's weight in the mean.
func (c *Client) weight(ctx context.Context, plan *wire.Plan) uint32 {
	sampler, ok := c.cfg.Objective.(Sampler)
	if !ok {
		return 1
	}
	n, err := c.calls.do(ctx, func() (float64, error) { return float64(sampler.Samples()), nil })
	if err != nil || n < 1 {
		return 1
	}
	return uint32(min(n, float64(plan.MaxWeight)))
}

// zerosWorthAWarning is how many rounds without any slope are no accident.
const zerosWorthAWarning = 3

// watchZeros warns of an engine whose weights have steps larger than mu: the
// loss then does not move at all.
func (c *Client) watchZeros(g []float32) {
	for _, v := range g {
		if v != 0 {
			c.zeros = 0
			return
		}
	}
	if c.zeros++; c.zeros == zerosWorthAWarning {
		c.cfg.Logger.Warn("the loss did not move in 3 rounds: does the engine round the weights " +
			"to steps above mu? raise mu, or mu_scale of the segments it rounds")
	}
}

// publish sends a reply. Being offline is no error: the round is lost to this
// device, and the next announcement shows where the run is.
func (c *Client) publish(frame []byte) error {
	shard := wire.Shard(c.cfg.ID, c.replica.Plan().Shards)
	if err := c.cfg.Bus.Publish(wire.ReplySubject(c.cfg.Run, shard, c.cfg.ID), frame); err != nil {
		c.cfg.Logger.Warn("reply not sent", "err", err)
	}
	return nil
}
