package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/wire"
)

var (
	errSlow   = errors.New("the loss is too slow for the time left")
	errPolicy = errors.New("the app's policy")
)

// ready says whether the device can and may make so many queries.
func (c *Client) ready(ctx context.Context, a *arrival, queries uint64) error {
	need, left := c.est.duration(queries), time.Until(a.closes)
	// A callback of a round that was given up may be about to return: wait
	// for it a little, unless it has shown to be slow.
	patience := left / 4
	if need > left {
		patience = 0
	}
	if !c.calls.idle(ctx, patience) {
		return errBusy
	}
	if left = time.Until(a.closes); need > left {
		c.est.doubt()
		return fmt.Errorf("%w: %d queries take %v, %v are left", errSlow, queries, need, left)
	}
	return c.mayWork(ctx, objective.Work{N: a.N, Queries: queries, Left: left})
}

// mayWork asks the app's policy.
func (c *Client) mayWork(ctx context.Context, work objective.Work) error {
	policy, ok := c.cfg.Objective.(objective.Policy)
	if !ok {
		return nil
	}
	allowed, err := call(ctx, &c.calls, func() (bool, error) { return policy.MayWork(work), nil })
	switch {
	case err != nil:
		return fmt.Errorf("%w: %w", errPolicy, err)
	case !allowed:
		return fmt.Errorf("%w says not now", errPolicy)
	}
	return nil
}

// declined makes the reply of a device that cannot contribute because of err.
func declined(err error) wire.Reply {
	return wire.Reply{Kind: wire.Decline, Reason: reasonOf(err)}
}

func reasonOf(err error) wire.DeclineReason {
	switch {
	case errors.Is(err, errDeadline), errors.Is(err, errSlow):
		return wire.DeclineTime
	case errors.Is(err, errBusy):
		return wire.DeclineBusy
	case errors.Is(err, errPolicy):
		return wire.DeclinePolicy
	case errors.Is(err, errTooLarge):
		return wire.DeclineTooLarge
	}
	return wire.DeclineLoss
}

// weight is this device's weight in the mean.
func (c *Client) weight(ctx context.Context, plan *wire.Plan) (uint32, error) {
	sampler, ok := c.cfg.Objective.(objective.Sampler)
	if !ok || plan.Weights != wire.BySamples {
		return 1, nil
	}
	n, err := call(ctx, &c.calls, func() (int, error) { return sampler.Samples(), nil })
	if err != nil {
		return 0, fmt.Errorf("samples: %w", err)
	}
	return uint32(max(1, min(uint64(max(n, 0)), uint64(plan.MaxWeight)))), nil
}
