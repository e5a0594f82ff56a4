package client

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// evaluateWithin bounds the time of an evaluation while no round waits for the device.
const evaluateWithin = 5 * time.Minute

// errAsked says that a round asked this device during an evaluation.
var errAsked = errors.New("a round asks this device")

// reportState sends the digest and metrics that the plan asks for. The device sends its
// contribution first, so reportState never delays the round.
func (c *Client) reportState(ctx context.Context) (next, error) {
	p := c.follower.Plan()
	if p.DigestEvery > 0 {
		if err := c.reportDigest(ctx, c.session.newest); err != nil {
			return next{}, err
		}
	}
	if every := uint64(p.EvalEvery); every > 0 {
		return c.reportMetrics(ctx, c.session.newest, every)
	}
	return goOn((*Client).acted)
}

// reportDigest sends the digest of the present state if the digest is due and a round asks this
// device.
func (c *Client) reportDigest(ctx context.Context, a *arrival) error {
	p, n := c.follower.Plan(), c.follower.N()
	if n%uint64(p.DigestEvery) != 0 || !a.wants {
		return nil
	}
	frame, reported := c.follower.Unreported(n)
	if frame == nil {
		return nil
	}
	reported()
	return c.send(ctx, frame)
}

// reportDigests sends all digests that a passive replica has not reported yet.
func (c *Client) reportDigests(ctx context.Context) (next, error) {
	for {
		frame, reported := c.follower.Unreported(0)
		if frame == nil {
			return goOn((*Client).acted)
		}
		sent, err := c.link.Publish(ctx, c.follower.Plan().Shards, frame)
		switch {
		case err != nil:
			return next{}, err
		case !sent: // offline: try again at the next announcement
			return goOn((*Client).acted)
		}
		reported()
	}
}

// reportMetrics asks the app to measure the model and sends the metrics, if the coordinator's draw
// chose this device for that. reportMetrics also does so after the run's last record.
func (c *Client) reportMetrics(ctx context.Context, a *arrival, every uint64) (next, error) {
	r := c.follower.Replica()
	plan, n := r.Plan(), r.N()
	if n%every != 0 && r.Ended() == nil || !c.prober.Evaluates() || c.evaluated == n ||
		!a.Cohort.Evaluates(plan.Run, n, a.Cohort.EvalShare(plan), c.member.slot, c.cfg.ID) {
		return goOn((*Client).acted)
	}
	if c.prober.Accepts(ctx, plan) != nil {
		return goOn((*Client).acted) // the next round that asks this device reports why
	}
	c.evaluated = n
	reply, err := c.measure(ctx, plan)
	switch {
	case ctx.Err() != nil:
		return next{}, context.Cause(ctx)
	case err != nil:
		c.cfg.Logger.Warn("evaluation failed", "record", n, "err", err)
		p := waiting(fmt.Errorf("evaluation: %w", err))
		return telling(p, (*Client).acted)
	}
	return next{then: (*Client).acted}, c.send(ctx, reply.Append(nil))
}

// evaluationContext returns a context that ends with ctx or after evaluateWithin. The context also
// ends when half of a round's time is over and that round still needs this device's reply. The
// app's callbacks run one at a time, and the round needs the other half of the time.
func (c *Client) evaluationContext(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, stop := context.WithTimeoutCause(ctx, evaluateWithin, errDeadline)
	ctx, cancel := context.WithCancelCause(ctx)
	plan, tip := c.follower.Plan(), c.follower.Replica().Hash().Tip()
	unwatch := c.inbox.watched(func(a *arrival) {
		if a.State == wire.Open && c.asks(a, plan) && !c.outbox.Settled(&a.Ask, tip) {
			half := time.AfterFunc(time.Until(a.closes)/2, func() { cancel(errAsked) })
			context.AfterFunc(ctx, func() { half.Stop() })
		}
	})
	return ctx, func() {
		unwatch()
		cancel(nil)
		stop()
	}
}

// measure asks the app for the metrics of the present state.
func (c *Client) measure(ctx context.Context, p *plan.Plan) (wire.Reply, error) {
	ctx, cancel := c.evaluationContext(ctx)
	defer cancel()
	r := c.follower.Replica()
	got, err := c.prober.Evaluate(ctx, r.Params(), c.cfg.RequestTimeout)
	if err != nil {
		return wire.Reply{}, err
	}
	if len(got.Values) != len(p.Metrics) || got.Samples < 1 {
		return wire.Reply{}, fmt.Errorf("Evaluate returned %d values and %d samples: "+
			"return one value for each metric of the plan, %v, and at least one sample",
			len(got.Values), got.Samples, p.Metrics)
	}
	reply := wire.Reply{
		Kind: wire.Evaluation, N: r.N(), Tip: r.Hash().Tip(),
		Weight: uint32(min(got.Samples, plan.MaxWeight)),
	}
	for i, v := range got.Values {
		if !(math.Abs(v) <= math.MaxFloat32) {
			return wire.Reply{}, fmt.Errorf("%s is %v", p.Metrics[i], v)
		}
		reply.Values = wire.AppendScalars(reply.Values, float32(v))
	}
	return reply, nil
}
