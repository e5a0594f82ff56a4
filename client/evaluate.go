package client

import (
	"context"
	"fmt"
	"time"

	"github.com/zofl/zofl/wire"
)

// evaluateWithin bounds an evaluation when no round is open.
const evaluateWithin = 5 * time.Minute

// evaluation remembers what was reported, so that a repeated announcement does
// not repeat it.
type evaluation struct {
	evaluated uint64 // last record whose state was evaluated
	digested  uint64 // last record whose digest was reported
}

// reportState sends what the plan asks about the state after record N-1:
// metrics from a few devices, digests from those that take part. It comes after
// the contribution, so it is never in a round's way.
func (c *Client) reportState(ctx context.Context, a *arrival) error {
	plan, n := c.replica.Plan(), c.replica.N()
	if due(n, plan.DigestEvery) && c.evaluate.digested != n && a.State == wire.Open &&
		a.Cohort.Has(plan.Run, a.N, a.Attempt, c.slot, c.cfg.ID) {
		c.evaluate.digested = n
		digest := c.replica.Digest()
		reply := wire.Reply{Kind: wire.DigestReport, N: n, Tip: c.replica.Hash().Tip(), Digest: [8]byte(digest[:8])}
		if err := c.publish(reply.Append(nil)); err != nil {
			return err
		}
	}
	evaluator, ok := c.cfg.Objective.(Evaluator)
	wanted := due(n, plan.EvalEvery) || plan.EvalEvery > 0 && c.replica.Ended() != nil
	if !ok || !wanted || c.evaluate.evaluated == n ||
		!a.Cohort.Evaluates(plan.Run, n, plan.EvalShare(a.Cohort), c.slot, c.cfg.ID) {
		return nil
	}
	c.evaluate.evaluated = n
	reply, err := c.measure(ctx, evaluator, plan)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		c.cfg.Logger.Warn("evaluation failed", "record", n, "err", err)
		return c.record(Progress{State: Waiting, Err: err})
	}
	return c.publish(reply.Append(nil))
}

func due(n uint64, every uint32) bool { return every > 0 && n%uint64(every) == 0 }

// measure asks the app for the metrics of the state.
func (c *Client) measure(ctx context.Context, evaluator Evaluator, plan *wire.Plan) (wire.Reply, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, evaluateWithin, errDeadline)
	defer cancel()
	if !c.calls.idle(ctx) {
		return wire.Reply{}, context.Cause(ctx)
	}
	if c.est.probe == nil {
		c.est.probe = make([]float32, len(c.replica.Params()))
	}
	probe := c.est.probe
	copy(probe, c.replica.Params())
	// Filled by the callback, read only after it returned.
	type measured struct {
		values  []float64
		samples int
	}
	got := &measured{}
	_, err := c.calls.do(ctx, func() (float64, error) {
		var err error
		got.values, got.samples, err = evaluator.Evaluate(ctx, probe)
		return 0, err
	})
	if err != nil {
		return wire.Reply{}, err
	}
	if len(got.values) != len(plan.Metrics) || got.samples < 1 {
		return wire.Reply{}, fmt.Errorf("client: evaluation returned %d values of %d samples, the plan has the metrics %v",
			len(got.values), got.samples, plan.Metrics)
	}
	reply := wire.Reply{
		Kind: wire.Evaluation, N: c.replica.N(), Tip: c.replica.Hash().Tip(),
		Weight: uint32(min(got.samples, wire.MaxWeight)),
	}
	for _, v := range got.values {
		reply.Values = wire.AppendScalars(reply.Values, float32(v))
	}
	return reply, nil
}
