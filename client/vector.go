package client

import (
	"context"
	"errors"
	"fmt"

	"github.com/zofl/zofl/client/internal/probe"
	"github.com/zofl/zofl/client/internal/retry"
)

// workVector answers a round with a vector, of which it sends only the pieces that the coordinator
// lacks. It answers surveys with scalars.
func (c *Client) workVector(ctx context.Context, a *arrival) (Progress, error) {
	if p, kept, err := c.sendAgain(ctx, a); kept {
		return p, err
	}
	if why, abstains := c.abstains(ctx, a); abstains {
		return waiting(why), nil
	}
	round := c.working(ctx, a, nil)
	defer round.end()
	if c.outbox.Uploads(&a.Announcement, c.follower.Replica().Hash().Tip()) {
		return c.deliver(ctx, round)
	}
	t, err := c.taskFromMemory(ctx, a)
	if err != nil {
		return later(ctx, err)
	}
	reply, vector, fault, err := c.compute(ctx, round, &t)
	switch {
	case err != nil:
		return Progress{}, err
	case fault != nil:
		return c.decline(ctx, a, &reply, fault)
	case vector == nil:
		return c.sendScalars(ctx, a, &reply)
	}
	if err := c.outbox.PromiseVector(&a.Announcement, &reply, vector); err != nil {
		return Progress{}, err
	}
	return c.deliver(ctx, round)
}

// taskFromMemory returns the task of an announcement, together with results of this device's
// earlier rounds.
func (c *Client) taskFromMemory(ctx context.Context, a *arrival) (t probe.Task, err error) {
	r := c.follower.Replica()
	if err := c.memory.prepare(r); err != nil {
		return t, err
	}
	if err := c.memory.recall(ctx, r, c.outbox); err != nil {
		return t, err
	}
	if t, err = c.task(ctx, a); err != nil {
		return t, err
	}
	if lost := c.prober.Lost(r); lost != nil {
		c.cfg.Logger.Warn(lost.Error(), "record", a.N)
		err = c.reportAside(lost)
	}
	return t, err
}

// deliver sends the stored vector before the round closes.
func (c *Client) deliver(ctx context.Context, round *working) (Progress, error) {
	loss, sent, err := c.outbox.Deliver(round, &round.a.Announcement)
	if errors.Is(err, context.Canceled) && round.superseded.Load() {
		err = fmt.Errorf("%w: %w", errSuperseded, err)
	}
	switch {
	case ctx.Err() != nil:
		return Progress{}, context.Cause(ctx)
	case err != nil: // the transfer resumes at the next announcement
		c.cfg.Logger.Warn("vector not sent", "record", round.a.N, "err", err)
		return later(ctx, err)
	case !sent:
		return waiting(nil), nil
	}
	c.backoff = retry.Backoff{}
	return contributed(loss), nil
}
