package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/wire"
)

// join asks for a slot and the plan until the coordinator answers, unless an
// earlier Run has them.
func (c *Client) join(ctx context.Context) error {
	pause := c.cfg.RetryMax / 32
	for c.replica.N() == 0 {
		reply, err := c.askToJoin(ctx)
		switch {
		case err == nil:
			if err := c.accept(&reply); err != nil {
				return err
			}
			continue
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case fatal(err):
			return err
		}
		c.cfg.Logger.Info("no coordinator yet", "err", err, "retry", pause)
		if err := c.record(Progress{State: Joining, Err: err}); err != nil {
			return err
		}
		// Full jitter, so that a fleet that lost its coordinator does not
		// come back in step.
		if err := sleep(ctx, rand.N(pause)); err != nil {
			return err
		}
		pause = min(2*pause, c.cfg.RetryMax)
	}
	return nil
}

func (c *Client) askToJoin(ctx context.Context) (wire.JoinReply, error) {
	frame := (&wire.JoinRequest{}).Append(nil)
	b, err := c.request(ctx, wire.JoinSubject(c.cfg.Run, c.cfg.ID), frame)
	if err != nil {
		return wire.JoinReply{}, fmt.Errorf("join: %w", err)
	}
	reply, err := wire.DecodeJoinReply(b)
	if err != nil {
		return reply, fmt.Errorf("join: %w", err)
	}
	return reply, nil
}

// accept takes the slot and the plan. A refusal is final, and so is a plan
// that this device cannot run. Another plan than the replica's is that of a log
// that took the place of the replica's: [errNotOurs].
func (c *Client) accept(reply *wire.JoinReply) error {
	if reply.Status != wire.JoinOK {
		return fmt.Errorf("%w: %v: %s", ErrRefused, reply.Status, reply.Reason)
	}
	switch {
	case c.replica.N() == 0:
		if err := c.apply(reply.Plan); err != nil {
			return fmt.Errorf("plan: %w", err)
		}
		c.plan = bytes.Clone(reply.Plan)
	case !bytes.Equal(reply.Plan, c.plan):
		return fmt.Errorf("%w: it begins with another plan", errNotOurs)
	}
	c.slot, c.last = reply.Slot, max(c.last, reply.Last)
	c.cfg.Logger.Info("joined", "slot", reply.Slot, "last", reply.Last)
	return nil
}

// askWhatIsOpen joins once more, now that this device listens, for the
// announcement in force: what was announced before it listened would otherwise
// come to it with the next repetition only. The slot may have changed, too,
// since an earlier Run; and a coordinator that lost its log knows nobody, and
// announces nothing until enough devices have joined. No answer is no harm.
func (c *Client) askWhatIsOpen(ctx context.Context) error {
	reply, err := c.askToJoin(ctx)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case fatal(err):
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

// request asks the coordinator, for at most RequestTimeout.
func (c *Client) request(ctx context.Context, subject string, frame []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, c.cfg.RequestTimeout, errNoAnswer)
	defer cancel()
	b, err := c.cfg.Bus.Request(ctx, subject, frame)
	if err != nil && errors.Is(context.Cause(ctx), errNoAnswer) {
		return nil, fmt.Errorf("%w in %v (%w)", errNoAnswer, c.cfg.RequestTimeout, err)
	}
	return b, err
}

var errNoAnswer = errors.New("no answer")

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
