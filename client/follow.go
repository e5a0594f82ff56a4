package client

import (
	"context"
	"errors"
	"fmt"

	"github.com/zofl/zofl/client/internal/follow"
	"github.com/zofl/zofl/client/internal/retry"
	"github.com/zofl/zofl/wire"
)

// follow handles queued announcements. It applies records up to the head of each announcement, and
// acts on the last one whose head it reached. done says that the run has ended.
func (c *Client) follow(ctx context.Context, queue []arrival) (done bool, err error) {
	var newest *arrival
	for i := range queue {
		a := &queue[i]
		at, err := c.reach(ctx, a)
		if err != nil {
			return false, err
		}
		if at {
			newest = a
		}
	}
	if newest == nil || c.follower.N() != newest.head.Last || c.inbox.prolongs(newest) {
		return false, nil
	}
	standing, err := c.follower.Complete(ctx, &newest.head)
	if err == nil && standing.Whole {
		err = c.act(ctx, newest)
	}
	switch {
	case err != nil:
		return false, err
	case standing.Ended:
		return true, c.report(Progress{State: Ended})
	case !standing.Whole:
		return false, nil
	}
	return false, c.keepIfDue()
}

// reach brings the replica to the head of an announcement, and says whether it got there. It
// returns only errors that end Run. It reports all other errors, because the next announcement is
// another chance.
func (c *Client) reach(ctx context.Context, a *arrival) (at bool, err error) {
	if a.head.Last == 0 {
		c.inbox.refuse()
		err := fmt.Errorf("%w: %d records before record %d", errUnusable, a.Records.Len(), a.N)
		return false, c.unreachable(a, err)
	}
	if a.State == wire.Paused && a.head.Last < c.follower.N() {
		// The log may have lost records of which this device has the last copy: wait for a person.
		return false, c.report(Progress{State: Paused, Reason: a.Reason})
	}
	epoch := c.follower.Epoch()
	standing, err := c.follower.To(ctx, &a.head)
	if now := c.follower.Epoch(); epoch > 0 && now > epoch && c.cfg.Passive == nil {
		c.rejoin()
	}
	switch {
	case ctx.Err() != nil:
		return false, context.Cause(ctx)
	case errors.Is(err, follow.ErrNotOurs):
		return false, c.claim(ctx, err)
	case retry.Final(err):
		return false, err
	case err != nil:
		return false, c.unreachable(a, err)
	}
	return standing.At, nil
}

// unreachable reports why the replica did not reach a head.
func (c *Client) unreachable(a *arrival, err error) error {
	c.cfg.Logger.Warn("cannot follow the log", "record", a.N, "err", err)
	return c.report(Progress{State: CatchingUp, Err: err})
}

// act does the work that an announcement asks for. The replica is at its head.
func (c *Client) act(ctx context.Context, a *arrival) error {
	if c.cfg.Passive != nil {
		return c.watch(ctx, a)
	}
	switch {
	case a.State == wire.Paused:
		if err := c.report(Progress{State: Paused, Reason: a.Reason}); err != nil {
			return err
		}
		c.endBackoff(ctx)
	case a.State == wire.Open && c.follower.Replica().Ended() == nil:
		p, err := c.work(ctx, a)
		if err == nil {
			err = c.report(p)
		}
		if err != nil {
			return err
		}
	}
	return c.reportState(ctx, a)
}
