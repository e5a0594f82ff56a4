package client

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/zofl/zofl/wire"
)

// join asks for a slot until the coordinator answers, and applies the plan
// unless an earlier Run has.
func (c *Client) join(ctx context.Context) (*wire.Plan, error) {
	pause := c.cfg.RetryMax / 32
	for !c.joined {
		reply, err := c.askToJoin(ctx)
		switch {
		case err == nil:
			if err := c.accept(&reply); err != nil {
				return nil, err
			}
			continue
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		}
		c.cfg.Logger.Info("no coordinator yet", "err", err, "retry", pause)
		if err := c.record(Progress{State: Joining, Err: err}); err != nil {
			return nil, err
		}
		// Full jitter, so that a fleet that lost its coordinator does not
		// come back in step.
		if err := sleep(ctx, time.Duration(rand.Int64N(int64(pause)+1))); err != nil {
			return nil, err
		}
		pause = min(2*pause, c.cfg.RetryMax)
	}
	return c.replica.Plan(), nil
}

func (c *Client) askToJoin(ctx context.Context) (wire.JoinReply, error) {
	frame := (&wire.JoinRequest{}).Append(nil)
	b, err := c.request(ctx, wire.JoinSubject(c.cfg.Run, c.cfg.ID), frame)
	if err != nil {
		return wire.JoinReply{}, err
	}
	return wire.DecodeJoinReply(b)
}

// accept takes the slot and the plan. A refusal is final, and so is a plan
// that this device cannot run.
func (c *Client) accept(reply *wire.JoinReply) error {
	if reply.Status != wire.JoinOK {
		return fmt.Errorf("%w: %v: %s", ErrRefused, reply.Status, reply.Reason)
	}
	if c.replica.N() == 0 {
		if err := c.apply(reply.Plan); err != nil {
			return fmt.Errorf("client: plan: %w", err)
		}
	}
	c.slot, c.joined = reply.Slot, true
	c.cfg.Logger.Info("joined", "slot", reply.Slot, "last", reply.Last)
	return nil
}

// request asks the coordinator, for at most RequestTimeout.
func (c *Client) request(ctx context.Context, subject string, frame []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, c.cfg.RequestTimeout)
	defer cancel()
	return c.cfg.Bus.Request(ctx, subject, frame)
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}

// fatal says whether an error of applying a record means that this program
// cannot go on with the run, whatever comes next.
func fatal(err error) bool { return errors.Is(err, wire.ErrUpgrade) }
