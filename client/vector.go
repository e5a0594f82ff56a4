package client

import (
	"context"
	"errors"
	"fmt"

	"github.com/zofl/zofl/client/internal/probe"
	"github.com/zofl/zofl/client/internal/retry"
	"github.com/zofl/zofl/wire"
)

// workVector answers a round with a vector. workVector sends only the pieces of the vector that the
// coordinator lacks.
func (c *Client) workVector(ctx context.Context, a *arrival) (next, error) {
	if fault, kept, err := c.sendAgain(ctx, a); kept { // the reply to send again is a decline
		return worked(waiting(fault), err)
	}
	closes := c.lastChance(a)
	if why, abstains := c.abstains(ctx, a, closes); abstains {
		return idle(why)
	}
	if c.outbox.Uploads(&a.Ask, c.follower.Replica().Hash().Tip()) {
		round := c.working(ctx, a, closes, nil)
		defer round.end()
		return worked(c.deliver(ctx, round))
	}
	t, lost, err := c.taskFromMemory(ctx, a)
	if err != nil {
		return fails(ctx, err)
	}
	return computing(a, lost, c.round(t, closes, c.sendVector))
}

// sendVector stores a contribution and sends its vector, in pieces.
func (c *Client) sendVector(
	ctx context.Context, round *working, r *wire.Reply, found *probe.Result,
) (Progress, error) {
	if err := c.outbox.PromiseVector(&round.a.Ask, r, found.Vector); err != nil {
		return Progress{}, err
	}
	return c.deliver(ctx, round)
}

// taskFromMemory returns the task of an announcement, together with results of this device's
// earlier rounds. lost names the results that the device no longer has.
func (c *Client) taskFromMemory(
	ctx context.Context, a *arrival,
) (t probe.Task, lost, err error) {
	r := c.follower.Replica()
	if err := c.memory.prepare(r); err != nil {
		return t, nil, err
	}
	if err := c.memory.recall(ctx, r, c.outbox); err != nil {
		return t, nil, err
	}
	if t, err = c.task(ctx, a); err != nil {
		return t, nil, err
	}
	if lost = c.prober.Lost(r); lost != nil {
		c.cfg.Logger.Warn(lost.Error(), "record", a.N)
	}
	return t, lost, nil
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
		return waiting(err), ends(ctx, err)
	case !sent:
		return waiting(nil), nil
	}
	c.backoff = retry.Backoff{}
	return contributed(loss), nil
}
