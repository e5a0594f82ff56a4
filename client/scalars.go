package client

import (
	"context"
	"slices"
	"time"

	"github.com/zofl/zofl/client/internal/probe"
	"github.com/zofl/zofl/client/internal/retry"
	"github.com/zofl/zofl/internal/grouping"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/survey"
)

// workScalars answers a round with scalars.
func (c *Client) workScalars(ctx context.Context, a *arrival) (next, error) {
	if fault, kept, err := c.sendAgain(ctx, a); kept {
		return worked(waiting(fault), err)
	}
	closes := c.lastChance(a)
	if why, abstains := c.abstains(ctx, a, closes); abstains {
		return idle(why)
	}
	t, err := c.task(ctx, a)
	if err != nil {
		return fails(ctx, err)
	}
	return computing(a, nil, c.round(t, closes, c.sendScalars))
}

// round is the computation of a round's contribution.
func (c *Client) round(t probe.Task, closes time.Time, send sender) computation {
	return computation{
		closes: closes,
		calls:  c.prober.Calls(c.follower.Plan(), &t),
		run: func(ctx context.Context) (probe.Result, error) {
			return c.prober.Run(ctx, c.follower.Replica(), t)
		},
		send: send,
	}
}

// sendScalars stores and sends a contribution.
func (c *Client) sendScalars(
	ctx context.Context, round *working, r *wire.Reply, found *probe.Result,
) (Progress, error) {
	c.putScalars(r, round.a, found)
	return c.sendReply(ctx, round, r)
}

// putScalars puts the scalars of a round into a contribution. In runs with step_auto,
// perturbations_auto, control variates or groups, putScalars also adds the fields that follow the
// scalars.
func (c *Client) putScalars(r *wire.Reply, a *arrival, found *probe.Result) {
	p := c.follower.Plan()
	r.Values = slices.Clone(found.Sent)
	if p.StepAuto > 0 && p.ServerRule != plan.ServerCMA || p.PerturbationsAuto > 0 {
		r.Rest = survey.Slope(found.Slope)
	}
	switch {
	case found.Control.N > 0:
		r.Rest = found.Control.Append(nil)
	case grouped(p):
		r.Rest = grouping.AppendReply(r.Rest, a.Group)
	}
}

// sendReply stores and sends a contribution that fits into one frame.
func (c *Client) sendReply(
	ctx context.Context, round *working, r *wire.Reply,
) (Progress, error) {
	frame, fault, err := c.promise(round.a, r)
	if fault != nil || err != nil {
		return waiting(fault), err
	}
	return contributed(r.Loss), c.send(ctx, frame)
}

// promise stores a contribution, and returns it in the form in which the device sends it. If there
// is a fault, the caller must not send the contribution.
func (c *Client) promise(a *arrival, r *wire.Reply) (frame []byte, fault, err error) {
	c.backoff = retry.Backoff{}
	if !c.addsNoise() {
		frame, err = c.outbox.Promise(&a.Ask, r)
		return frame, nil, err
	}
	private := hidden(c.follower.Plan(), r)
	if frame, err = c.outbox.Promise(&a.Ask, &private); err != nil {
		return nil, nil, err
	}
	fault, err = c.unkept()
	return frame, fault, err
}

// task returns the task of an announcement. task may have to ask the log for two facts: whether a
// record includes this device's last contribution, and whether that record comes before the
// announced record.
func (c *Client) task(ctx context.Context, a *arrival) (probe.Task, error) {
	t := c.prober.Task(c.follower.Replica(), &a.Announcement, c.member.slot, a.Group)
	if !c.follower.Plan().SendsControl() || t.Phase == 1 {
		return t, nil
	}
	own, err := c.outbox.Control(ctx, t.Missed.N)
	t.Corrects(own)
	return t, err
}
