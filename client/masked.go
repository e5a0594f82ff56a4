package client

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/zofl/zofl/client/internal/probe"
	"github.com/zofl/zofl/client/internal/secagg"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// With secure=sum a device answers an attempt in the steps of package secagg. The first two steps
// run while the device computes. The store keeps the device's contribution without masks; the
// device sends only the masked contribution.

// workMasked adds the scalars of a round to the sum of the attempt that a announces.
func (c *Client) workMasked(ctx context.Context, a *arrival) (next, error) {
	p := c.follower.Plan()
	numbers := int(p.Steps) * int(a.Perturbations)
	return c.workSum(ctx, a, numbers, secagg.ScalarWords, func(closes time.Time) (computation, error) {
		t, err := c.task(ctx, a)
		return c.round(t, closes, c.sendMasked), err
	})
}

// workSum takes part in the attempt that a announces, once, with numbers that a job computes. Each
// attempt has its own keys. A device that lost its keys waits for the next attempt.
func (c *Client) workSum(ctx context.Context, a *arrival, numbers int,
	words func(*plan.Plan, int, wire.Scalars, float32) ([]uint32, error),
	jobOf func(closes time.Time) (computation, error),
) (next, error) {
	r := c.follower.Replica()
	tip := r.Hash().Tip()
	cfg := secagg.Config{Plan: r.Plan(), Words: words,
		Attempt: secagg.AttemptOf(r.Plan(), &a.Announcement, tip, numbers),
		Slot:    c.member.slot, Secret: c.cfg.RunKey, Ask: c.link.Step,
		Unmasks: func() error { return c.outbox.Unmask(a.N) }}
	if !c.outbox.BeginAttempt(cfg.Attempt.Nonce()) {
		return idle(nil)
	}
	refusal, err := c.outbox.RelyOn(r.Plan(), r.PlanRecord())
	switch {
	case err != nil:
		return next{}, err
	case refusal != nil:
		c.cfg.Logger.Warn("no part in this sum", "record", a.N, "err", refusal)
		return c.declineMasked(ctx, a.N, tip, wire.DeclinePolicy, refusal)
	case c.outbox.Unmasked(a.N):
		return c.declineMasked(ctx, a.N, tip, secagg.DeclineSpent, nil)
	}
	if frame := c.outbox.Frame(&a.Ask, tip); frame != nil {
		return worked(c.takePartMasked(ctx, a, cfg, func(round *working) (Progress, error) {
			fault, err := c.unkept()
			if fault != nil || err != nil {
				return waiting(fault), err
			}
			return c.add(ctx, round.masks, frame)
		}))
	}
	closes := lastMasked(a, r.Plan())
	if why, abstains := c.abstains(ctx, a, closes); abstains {
		return idle(why)
	}
	job, err := jobOf(closes)
	if err != nil {
		return fails(ctx, err)
	}
	return telling(Progress{State: Working}, func(c *Client, ctx context.Context) (next, error) {
		return worked(c.takePartMasked(ctx, a, cfg, func(round *working) (Progress, error) {
			return c.compute(ctx, round, &job)
		}))
	})
}

// declineMasked declines an attempt. Other attempts at the record may get another answer, so the
// outbox does not keep this one.
func (c *Client) declineMasked(
	ctx context.Context, n uint64, tip wire.Tip, why wire.DeclineReason, fault error,
) (next, error) {
	reply := wire.Reply{Kind: wire.Decline, N: n, Tip: tip, Reason: why}
	err := c.send(ctx, reply.Append(nil))
	return worked(Progress{State: Waiting, Declined: why, Err: fault}, err)
}

// lastMasked is when a device gives up the computation of an attempt. The result is before the
// attempt's deadline, because the attempt's last step takes time.
func lastMasked(a *arrival, p *plan.Plan) time.Time { return a.closes.Add(-secagg.UnmaskTime(p)) }

// takePartMasked takes the steps of an attempt while answer computes and adds this device's part.
func (c *Client) takePartMasked(ctx context.Context, a *arrival, cfg secagg.Config,
	answer func(*working) (Progress, error),
) (Progress, error) {
	limited, cancel := context.WithDeadlineCause(ctx, a.closes, errDeadline)
	defer cancel()
	masks, err := secagg.Begin(limited, cfg)
	if errors.Is(err, secagg.ErrOut) { // else the coordinator may not learn that this device is back
		c.rejoin()
	}
	if err != nil {
		return waiting(err), nil
	}
	defer masks.Close()
	round := c.working(ctx, a, lastMasked(a, cfg.Plan), masks)
	defer round.end()
	return answer(round)
}

// sendMasked stores the scalars of a round, and adds them to the sum.
func (c *Client) sendMasked(
	ctx context.Context, round *working, r *wire.Reply, found *probe.Result,
) (Progress, error) {
	c.putScalars(r, round.a, found)
	return c.promiseMasked(ctx, round, r)
}

// promiseMasked stores a contribution, and adds it to the sum.
func (c *Client) promiseMasked(
	ctx context.Context, round *working, r *wire.Reply,
) (Progress, error) {
	frame, fault, err := c.promise(round.a, r)
	if fault != nil || err != nil {
		return waiting(fault), err
	}
	told, err := c.add(ctx, round.masks, frame)
	if told.Contributed {
		told.Loss = float64(r.Loss) // the frame may lack the loss
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
	if slots := s.Refused(); len(slots) > 0 {
		c.cfg.Logger.Warn("shares of other devices do not open", "record", r.N, "slots", slots)
	}
	switch {
	case ctx.Err() != nil:
		return Progress{}, context.Cause(ctx)
	case err != nil:
		c.cfg.Logger.Warn("scalars not summed", "record", r.N, "sent", sent, "err", err)
		return waiting(err), ends(ctx, err)
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
