package client

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/zofl/zofl/wire"
)

// evaluateWithin bounds an evaluation that is in no round's way.
const evaluateWithin = 5 * time.Minute

// errAsked: a round asks a device that evaluates.
var errAsked = errors.New("a round asks this device")

// evaluation remembers what was reported, so that a repeated announcement does
// not repeat it.
type evaluation struct {
	evaluated uint64 // last record whose state was evaluated
}

// reportState sends what the plan asks about the state after record a.N-1, on
// which the replica is. It comes after the contribution, so it is never in that
// round's way.
func (c *Client) reportState(ctx context.Context, a *arrival) error {
	if err := c.reportDigest(ctx, a); err != nil {
		return err
	}
	return c.reportMetrics(ctx, a)
}

// reportMetrics sends what the app measures, from the few devices that are
// drawn; after the run's last record too.
func (c *Client) reportMetrics(ctx context.Context, a *arrival) error {
	plan, n := c.replica.Plan(), c.replica.N()
	wanted := due(n, plan.EvalEvery) || plan.EvalEvery > 0 && c.replica.Ended() != nil
	if !c.prober.Evaluates() || !wanted || c.evaluate.evaluated == n ||
		!a.Cohort.Evaluates(plan.Run, n, plan.EvalShare(a.Cohort), c.slot, c.cfg.ID) {
		return nil
	}
	c.evaluate.evaluated = n
	reply, err := c.measure(ctx, plan)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		c.cfg.Logger.Warn("evaluation failed", "record", n, "err", err)
		return c.record(Progress{State: Waiting, Err: fmt.Errorf("evaluation: %w", err)})
	}
	_, err = c.publish(ctx, reply.Append(nil))
	return err
}

func due(n uint64, every uint32) bool { return every > 0 && n%uint64(every) == 0 }

// evaluationContext returns a context that ends with ctx, after evaluateWithin,
// or when a round that asks this device, and has no reply yet, has half of its
// time left: callbacks run one at a time, and the round needs the other half.
func (c *Client) evaluationContext(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx, stop := context.WithTimeoutCause(ctx, evaluateWithin, errDeadline)
	ctx, cancel := context.WithCancelCause(ctx)
	plan, tip := c.replica.Plan(), c.replica.Hash().Tip()
	unwatch := c.inbox.watched(func(a *arrival) {
		if a.State == wire.Open && !c.reply.answers(a, tip) && !c.declined.answers(a, tip) && !c.upload.settled(a, tip) &&
			a.Cohort.Has(plan.Run, a.N, a.Attempt, c.slot, c.cfg.ID) {
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

// measure asks the app for the metrics of the state.
func (c *Client) measure(ctx context.Context, plan *wire.Plan) (wire.Reply, error) {
	ctx, cancel := c.evaluationContext(ctx)
	defer cancel()
	got, err := c.prober.Evaluate(ctx, c.replica.Params(), c.cfg.RequestTimeout)
	if err != nil {
		return wire.Reply{}, err
	}
	if len(got.Values) != len(plan.Metrics) || got.Samples < 1 {
		return wire.Reply{}, fmt.Errorf("%d values of %d samples, the plan has the metrics %v",
			len(got.Values), got.Samples, plan.Metrics)
	}
	reply := wire.Reply{
		Kind: wire.Evaluation, N: c.replica.N(), Tip: c.replica.Hash().Tip(),
		Weight: uint32(min(got.Samples, wire.MaxWeight)),
	}
	for i, v := range got.Values {
		if !(math.Abs(v) <= math.MaxFloat32) {
			return wire.Reply{}, fmt.Errorf("%s is %v", plan.Metrics[i], v)
		}
		reply.Values = wire.AppendScalars(reply.Values, float32(v))
	}
	return reply, nil
}
