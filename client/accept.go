package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/zofl/zofl/client/internal/memlimit"
	"github.com/zofl/zofl/client/internal/probe"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/valid"
	"github.com/zofl/zofl/wire"
)

// begins applies record 1 if the app accepts its plan. If the device cannot run the plan, begins
// returns a [retry.Claim].
func (c *Client) begins(ctx context.Context, record []byte) error {
	if c.cfg.Accept != nil {
		if r, err := wire.DecodeRecord(record); err == nil && c.usable(r.Plan) {
			if err := c.accepts(ctx, r.Plan); err != nil {
				return err
			}
		}
	}
	return c.follower.Begin(record)
}

// usable says whether to ask the app about a plan. The follower refuses all other plans, with a
// reason.
func (c *Client) usable(p *plan.Plan) bool {
	dim := uint64(c.follower.Dim())
	return p != nil && valid.Plan(p) == nil && p.Run == c.cfg.Run && (dim == 0 || p.Dim == dim) &&
		c.guard().Fits(p) == nil
}

// accepts asks the app whether it accepts a plan, and names the plan in a refusal.
func (c *Client) accepts(ctx context.Context, p *plan.Plan) error {
	err := c.prober.Accepts(ctx, p)
	if errors.Is(err, memlimit.ErrPlan) {
		err = fmt.Errorf("plan: %w", err)
	}
	return err
}

// ready says whether the device may make these calls for record n, and can make them before the
// round closes, under a plan that the app accepts. ready returns the errors of
// [probe.Prober.Ready].
func (c *Client) ready(
	ctx context.Context, n uint64, calls probe.Calls, closes time.Time,
) error {
	err := c.prober.Ready(ctx, n, calls, closes)
	if err == nil && c.cfg.Accept != nil {
		err = c.accepts(ctx, c.follower.Plan())
	}
	if errors.Is(err, memlimit.ErrPlan) {
		err = fmt.Errorf("%w: %w", probe.ErrPolicy, err)
	}
	return err
}
