package client

import (
	"context"
	"errors"
	"fmt"

	"github.com/zofl/zofl/client/internal/secagg"
	"github.com/zofl/zofl/wire"
)

// With secure=sum a device answers an attempt in the steps of package secagg. The first two steps
// run while it computes. The store keeps the device's contribution unmasked; only the masked one
// leaves the device.

// workMasked takes part in the attempt that a announces, once. Each attempt has its own keys. A
// device that lost its keys waits for the next attempt.
func (c *Client) workMasked(ctx context.Context, a *arrival) (Progress, error) {
	r := c.follower.Replica()
	p, tip := r.Plan(), r.Hash().Tip()
	attempt := secagg.AttemptOf(p, &a.Announcement, tip)
	if !c.outbox.BeginAttempt(attempt.Nonce()) {
		return waiting(nil), nil
	}
	if c.outbox.Unmasked(a.N) {
		reply := wire.Reply{Kind: wire.Decline, N: a.N, Tip: tip, Reason: secagg.DeclineSpent}
		err := c.send(ctx, reply.Append(nil))
		return Progress{State: Waiting, Declined: reply.Reason}, err
	}
	frame := c.outbox.Frame(&a.Announcement, tip)
	if frame == nil {
		if why, abstains := c.abstains(ctx, a); abstains {
			return waiting(why), nil
		}
	}
	limited, cancel := context.WithDeadlineCause(ctx, a.closes, errDeadline)
	defer cancel()
	masks, err := secagg.Begin(limited, secagg.Config{Plan: p, Attempt: attempt,
		Slot: c.member.slot, Secret: c.cfg.RunKey, Ask: c.link.Step,
		Unmasks: func() error { return c.outbox.Unmask(a.N) }})
	if errors.Is(err, secagg.ErrOut) { // nothing that this device sends would show that it is back
		c.rejoin()
	}
	if err != nil {
		return waiting(err), nil
	}
	defer masks.Close()
	round := c.working(ctx, a, masks)
	defer round.end()
	if frame != nil {
		fault, err := c.unkept()
		if fault != nil || err != nil {
			return waiting(fault), err
		}
		return c.add(ctx, masks, frame)
	}
	return c.answerMasked(ctx, round)
}

// answerMasked computes the scalars of an attempt, and adds them to the sum.
func (c *Client) answerMasked(ctx context.Context, round *working) (Progress, error) {
	t, err := c.task(ctx, round.a)
	if err != nil {
		return later(ctx, err)
	}
	reply, _, fault, err := c.compute(ctx, round, &t)
	switch {
	case err != nil:
		return Progress{}, err
	case fault != nil:
		return c.decline(ctx, round.a, &reply, fault)
	}
	frame, fault, err := c.promise(round.a, &reply)
	if fault != nil || err != nil {
		return waiting(fault), err
	}
	told, err := c.add(ctx, round.masks, frame)
	if told.Contributed {
		told.Loss = float64(reply.Loss) // frame may lack it
	}
	return told, err
}

// add adds a contribution to the sum of its round.
func (c *Client) add(ctx context.Context, s *secagg.Session, frame []byte) (Progress, error) {
	r, err := wire.DecodeReply(frame)
	if err != nil {
		return Progress{}, fmt.Errorf("the kept reply: %w", err)
	}
	sent, err := s.Finish(r.Values, r.Loss)
	switch {
	case ctx.Err() != nil:
		return Progress{}, context.Cause(ctx)
	case err != nil:
		c.cfg.Logger.Warn("scalars not summed", "record", r.N, "sent", sent, "err", err)
		return later(ctx, err)
	case !sent:
		return waiting(nil), nil
	}
	return contributed(r.Loss), nil
}

// same says whether an announcement is of the same attempt.
func (a *arrival) same(other *arrival) bool {
	return other.N == a.N && other.Epoch == a.Epoch && other.Attempt == a.Attempt &&
		other.State == a.State
}
