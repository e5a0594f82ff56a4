package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client/internal/follow"
	"github.com/zofl/zofl/client/internal/retry"
	"github.com/zofl/zofl/wire"
)

// A membership is what a device knows of its place in the run.
type membership struct {
	slot     uint32
	joined   bool      // slot is known
	rejoinAt time.Time // when to ask for the slot again; zero: no need
}

// rejoinDue says, once, that it is time to ask for the slot again. A new coordinator may have
// lost the members with the tail of its log. Otherwise this device would ask only after a
// silence.
func (m *membership) rejoinDue() bool {
	due := !m.rejoinAt.IsZero() && !time.Now().Before(m.rejoinAt)
	if due {
		m.rejoinAt = time.Time{}
	}
	return due
}

// join asks for a slot and the plan until the coordinator answers, unless an earlier Run got
// them.
func (c *Client) join(ctx context.Context) error {
	if c.member.joined {
		return nil
	}
	reply, err := insist(ctx, c, c.link.join)
	if err != nil {
		return err
	}
	return c.accept(&reply)
}

// insist asks until a coordinator answers. The error is the cause of ctx, or final.
func insist[T any](
	ctx context.Context, c *Client, ask func(context.Context) (T, error),
) (T, error) {
	pause := c.pauses.First()
	for {
		answer, err := ask(ctx)
		switch {
		case err == nil:
			return answer, nil
		case ctx.Err() != nil:
			return answer, context.Cause(ctx)
		case retry.Final(err):
			return answer, err
		}
		c.cfg.Logger.Info("no coordinator yet", "err", err, "retry", pause)
		if err := c.report(Progress{State: Joining, Err: err}); err != nil {
			return answer, err
		}
		// Full jitter, so that devices that lost their coordinator do not come back in step.
		if err := retry.Sleep(ctx, c.pauses.Jitter(pause)); err != nil {
			return answer, err
		}
		pause = c.pauses.Next(pause)
	}
}

// accept takes the slot and the plan. A refusal is final, and so is a plan that this device
// cannot run. If the plan is not the replica's, another log replaced the one the replica
// followed: [follow.ErrNotOurs].
func (c *Client) accept(reply *wire.JoinReply) error {
	if reply.Status != wire.JoinOK {
		return fmt.Errorf("%w: %v: %s", ErrRefused, reply.Status, reply.Reason)
	}
	switch {
	case c.follower.N() == 0:
		if err := c.follower.Begin(reply.Plan); err != nil {
			return err
		}
	case !bytes.Equal(reply.Plan, c.follower.Replica().PlanRecord()):
		return fmt.Errorf("%w: the log begins with another plan", follow.ErrNotOurs)
	}
	c.outbox.Joined(reply.Slot)
	c.follower.Heard(reply.Last)
	c.member.slot, c.member.joined = reply.Slot, true
	c.cfg.Logger.Info("joined", "slot", reply.Slot, "last", reply.Last)
	return nil
}

// stillEnded asks whether the coordinator has the run whose end is in the checkpoint. It
// accepts silence: there may be no coordinator any more.
func (c *Client) stillEnded(ctx context.Context) error {
	err := c.follower.Confirm(ctx)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, follow.ErrNotOurs):
		return err
	case err != nil:
		c.cfg.Logger.Info("no coordinator confirmed the run's end, keeping it", "err", err)
	}
	return nil
}

// askWhatIsOpen joins once more, now that this device listens. The answer carries the current
// announcement, which would otherwise reach the device only when it is repeated. Also, the
// slot may have changed since an earlier Run, and a coordinator that lost its log announces
// nothing until enough devices have joined. Silence is harmless.
func (c *Client) askWhatIsOpen(ctx context.Context) error {
	reply, err := c.link.join(ctx)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case retry.Final(err):
		return err
	case err != nil:
		c.cfg.Logger.Info("no coordinator", "err", err)
		return nil
	}
	if err := c.accept(&reply); err != nil {
		return err
	}
	if len(reply.Announcement) > 0 {
		c.inbox.receive(bus.Message{Data: reply.Announcement})
	}
	return nil
}
