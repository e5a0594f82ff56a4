package client

import (
	"context"

	"github.com/zofl/zofl/client/internal/probe"
	"github.com/zofl/zofl/client/internal/retry"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/survey"
)

// workScalars answers a round with scalars.
func (c *Client) workScalars(ctx context.Context, a *arrival) (next, error) {
	if fault, kept, err := c.sendAgain(ctx, a); kept {
		return worked(waiting(fault), err)
	}
	if why, abstains := c.abstains(ctx, a); abstains {
		return idle(why)
	}
	t, err := c.task(ctx, a)
	if err != nil {
		return fails(ctx, err)
	}
	return computing(a, t, nil, c.sendScalars)
}

// sendScalars stores and sends a contribution.
func (c *Client) sendScalars(
	ctx context.Context, round *working, r *wire.Reply, _ []float32,
) (Progress, error) {
	frame, fault, err := c.promise(round.a, r)
	if fault != nil || err != nil {
		return waiting(fault), err
	}
	return contributed(r.Loss), c.send(ctx, frame)
}

// promise stores a contribution, and returns it in the form that leaves the device. It must not
// leave if there is a fault.
func (c *Client) promise(a *arrival, r *wire.Reply) (frame []byte, fault, err error) {
	c.backoff = retry.Backoff{}
	if !c.addsNoise() {
		frame, err = c.outbox.Promise(&a.Announcement, r)
		return frame, nil, err
	}
	private := hidden(c.follower.Plan(), r)
	if frame, err = c.outbox.Promise(&a.Announcement, &private); err != nil {
		return nil, nil, err
	}
	fault, err = c.unkept()
	return frame, fault, err
}

// task returns the task of an announcement. For that it may have to ask the log for two facts:
// whether a record counted this device's last contribution, and whether that record comes before
// this one.
func (c *Client) task(ctx context.Context, a *arrival) (probe.Task, error) {
	t := c.prober.Task(c.follower.Replica(), &a.Announcement, c.member.slot)
	if !c.follower.Plan().SendsControl() || t.Phase == 1 || t.Survey != survey.None {
		return t, nil
	}
	own, err := c.outbox.Control(ctx, t.Missed.N)
	t.Corrects(own)
	return t, err
}
