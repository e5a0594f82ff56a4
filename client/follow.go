package client

import (
	"context"
	"errors"
	"fmt"

	"github.com/zofl/zofl/client/internal/follow"
	"github.com/zofl/zofl/client/internal/retry"
	"github.com/zofl/zofl/wire"
)

// hear brings the replica to the head of the next announcement in the queue. After the last
// announcement, the device acts on the newest one whose head the replica reached. If the replica
// did not reach a head, hear only reports why, because the next announcement is another chance.
func (c *Client) hear(ctx context.Context) (next, error) {
	if len(c.session.queue) == 0 {
		return goOn((*Client).complete)
	}
	a := &c.session.queue[0]
	c.session.queue = c.session.queue[1:]
	if a.head.Last == 0 {
		c.inbox.refuse()
		err := fmt.Errorf("%w: %d records before record %d", errUnusable, a.Records.Len(), a.N)
		return c.unreachable(a, err)
	}
	if a.State == wire.Paused && a.head.Last < c.follower.N() {
		// The log may have lost records of which this device has the last copy: wait for the operator.
		// Who paused the run may not know of them.
		if a.Epoch > c.follower.Epoch() && c.cfg.Passive == nil {
			c.rejoin()
		}
		p := Progress{State: Paused, Reason: a.Reason}
		return telling(p, (*Client).hear)
	}
	epoch := c.follower.Epoch()
	standing, err := c.follower.To(ctx, &a.head)
	if now := c.follower.Epoch(); epoch > 0 && now > epoch && c.cfg.Passive == nil {
		c.rejoin()
	}
	switch {
	case ctx.Err() == nil && errors.Is(err, follow.ErrNotOurs):
		return c.claim(ctx, err)
	case err != nil:
		if retry.Unfit(err) {
			err = retry.Claim{Err: err}
		}
		if err := c.judge(ctx, err, &c.doubt); err != nil {
			return next{}, err
		}
		return c.unreachable(a, err)
	}
	if standing.At {
		c.session.newest = a
	}
	return goOn((*Client).hear)
}

// unreachable reports why the replica did not reach a head.
func (c *Client) unreachable(a *arrival, err error) (next, error) {
	c.cfg.Logger.Warn("cannot follow the log", "record", a.N, "err", err)
	p := Progress{State: CatchingUp, Err: err}
	return telling(p, (*Client).hear)
}

// complete completes the state at the head that the replica reached, and acts on the announcement
// with that head.
func (c *Client) complete(ctx context.Context) (next, error) {
	a := c.session.newest
	if a == nil || c.follower.N() != a.head.Last || c.inbox.prolongs(a) {
		return goOn((*Client).heard)
	}
	standing, err := c.follower.Complete(ctx, &a.head)
	switch {
	case err != nil:
		return next{}, err
	case standing.Whole:
		return c.act(ctx, a)
	case standing.Ended:
		return telling(Progress{State: Ended}, nil)
	}
	return goOn((*Client).heard)
}

// act does the work that an announcement asks for. The replica is at the announcement's head.
func (c *Client) act(ctx context.Context, a *arrival) (next, error) {
	switch {
	case c.cfg.Passive != nil:
		return c.watch(ctx, a)
	case a.State == wire.Paused:
		c.endBackoff(ctx)
		p := Progress{State: Paused, Reason: a.Reason}
		return telling(p, (*Client).reportState)
	case a.State == wire.Open && c.follower.Replica().Ended() == nil:
		return c.work(ctx, a)
	}
	return goOn((*Client).reportState)
}

// acted ends what the device does at a head. The run has ended with this head, or goes on.
func (c *Client) acted(ctx context.Context) (next, error) {
	if c.follower.Replica().Ended() != nil {
		return telling(Progress{State: Ended}, nil)
	}
	if err := c.keepIfDue(); err != nil {
		return next{}, err
	}
	return goOn((*Client).heard)
}

// heard ends the handling of the announcements that came, and chooses the next step.
func (c *Client) heard(ctx context.Context) (next, error) {
	c.session.newest = nil
	c.keepalive.set(c.follower.Plan())
	if c.member.rejoinDue() || c.link.News() {
		return goOn((*Client).look)
	}
	return goOn((*Client).listen)
}
