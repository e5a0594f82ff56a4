package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/zofl/zofl/client/internal/retry"
	"github.com/zofl/zofl/client/internal/secagg"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
	wiresecagg "github.com/zofl/zofl/wire/secagg"
)

// With secure=sum a device answers an attempt in the steps of package mask. The first two steps
// run while it computes. The store keeps the device's contribution unmasked; only the masked one
// leaves the device.

// workMasked takes part in the attempt that a announces, once. Each attempt has its own keys. A
// device that lost its keys waits for the next attempt.
func (c *Client) workMasked(ctx context.Context, a *arrival) error {
	r := c.follower.Replica()
	plan, tip := r.Plan(), r.Hash().Tip()
	attempt := wiresecagg.Of(plan.Run, &a.Announcement, tip, int(plan.Steps)*int(a.Perturbations))
	if !c.outbox.BeginAttempt(attempt.Nonce()) {
		return c.report(Progress{State: Waiting})
	}
	if c.outbox.Unmasked(a.N) {
		reply := wire.Reply{Kind: wire.Decline, N: a.N, Tip: tip, Reason: wiresecagg.DeclineSpent}
		if err := c.send(ctx, reply.Append(nil)); err != nil {
			return err
		}
		return c.report(Progress{State: Waiting, Declined: reply.Reason})
	}
	frame := c.outbox.Frame(&a.Announcement, tip)
	if frame == nil {
		if err := c.withheld(a, plan); err != nil {
			return c.report(Progress{State: Waiting, Err: err})
		}
		if c.backsOff(ctx, a.N, c.lastChance(a)) {
			return c.report(Progress{State: Waiting})
		}
	}
	limited, cancel := context.WithDeadlineCause(ctx, a.closes, errDeadline)
	defer cancel()
	masks, err := secagg.Begin(limited, secagg.Config{Plan: plan, Attempt: attempt,
		Slot: c.member.slot, Secret: c.cfg.RunKey, Ask: c.link.Step,
		Unmasks: func() error { return c.outbox.Unmask(a.N) }})
	if errors.Is(err, secagg.ErrOut) { // nothing that this device sends would show that it is back
		c.rejoin()
	}
	if err != nil {
		return c.report(Progress{State: Waiting, Err: err})
	}
	defer masks.Close()
	round := c.working(ctx, a, masks)
	defer round.end()
	if frame == nil {
		return c.answer(ctx, round, a)
	}
	reply, err := wire.DecodeReply(frame)
	if err != nil {
		return fmt.Errorf("the kept reply: %w", err)
	}
	sent, err := c.sendKept(ctx, masks, plan, frame)
	if err != nil || !sent {
		return err
	}
	return c.report(Progress{State: Waiting, Contributed: true, Loss: float64(reply.Loss)})
}

// add adds a contribution to the sum of its round. It returns only errors that end Run and reports
// all others, because the next announcement is another chance.
func (c *Client) add(ctx context.Context, s *secagg.Session, frame []byte) (sent bool, err error) {
	r, err := wire.DecodeReply(frame)
	if err != nil {
		return false, fmt.Errorf("the kept reply: %w", err)
	}
	sent, err = s.Finish(r.Values, r.Loss)
	switch {
	case ctx.Err() != nil:
		return false, context.Cause(ctx)
	case err == nil || retry.Final(err):
		return sent, err
	}
	c.cfg.Logger.Warn("scalars not summed", "record", r.N, "sent", sent, "err", err)
	return false, c.report(Progress{State: Waiting, Err: err})
}

// same says whether an announcement is of the same attempt.
func (a *arrival) same(other *arrival) bool {
	return other.N == a.N && other.Epoch == a.Epoch && other.Attempt == a.Attempt &&
		other.State == a.State
}

// unmaskTime is the last part of an attempt's deadline. In it, devices unmask the sum of their
// contributions. With secure_lists=agreed they agree on its lists first.
func unmaskTime(plan *plan.Plan) time.Duration {
	eighth := time.Duration(plan.Deadline) * time.Millisecond / 8
	if plan.SecureLists > 0 {
		return 2 * eighth
	}
	return eighth
}
