package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/wire"
)

// join asks for a slot and the plan until the coordinator answers, unless an
// earlier Run has them.
func (c *Client) join(ctx context.Context) error {
	if c.joined {
		return nil
	}
	reply, err := insist(ctx, c, c.askToJoin)
	if err != nil {
		return err
	}
	return c.accept(&reply)
}

// insist asks until a coordinator answers. The error is that of ctx, or one
// that no waiting cures.
func insist[T any](ctx context.Context, c *Client, ask func(context.Context) (T, error)) (T, error) {
	pause := c.cfg.RetryMax / 32
	for {
		answer, err := ask(ctx)
		switch {
		case err == nil:
			return answer, nil
		case ctx.Err() != nil:
			return answer, context.Cause(ctx)
		case fatal(err):
			return answer, err
		}
		c.cfg.Logger.Info("no coordinator yet", "err", err, "retry", pause)
		if err := c.record(Progress{State: Joining, Err: err}); err != nil {
			return answer, err
		}
		// Full jitter, so that a fleet that lost its coordinator does not
		// come back in step.
		if err := sleep(ctx, c.jitter(pause)); err != nil {
			return answer, err
		}
		pause = min(2*pause, c.cfg.RetryMax)
	}
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
		if err := c.applyPlan(reply.Plan); err != nil {
			return err
		}
		c.digestIfDue(1)
	case !bytes.Equal(reply.Plan, c.replica.First()):
		return fmt.Errorf("%w: it begins with another plan", errNotOurs)
	}
	c.upload.reconsider()
	c.slot, c.joined, c.last = reply.Slot, true, max(c.last, reply.Last)
	c.cfg.Logger.Info("joined", "slot", reply.Slot, "last", reply.Last)
	return nil
}

// stillEnded asks whether the run whose end is in the checkpoint is the one that
// the coordinator has. No answer is no harm: there may be none any more.
func (c *Client) stillEnded(ctx context.Context) error {
	err := c.confirm(ctx)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, errNotOurs):
		return err
	case err != nil:
		c.cfg.Logger.Info("the run has ended, and nobody says otherwise", "err", err)
	}
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

var errNoAnswer = fmt.Errorf("%w: no answer", ErrQuiet)

// jitter draws a pause below most.
func (c *Client) jitter(most time.Duration) time.Duration {
	return time.Duration(c.random.Int64N(int64(most)))
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
