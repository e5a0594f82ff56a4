package client

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/zofl/zofl/client/internal/follow"
	"github.com/zofl/zofl/client/internal/link"
	"github.com/zofl/zofl/client/internal/retry"
	"github.com/zofl/zofl/wire"
)

// A membership is what a device knows of its place in the run.
type membership struct {
	slot     uint32
	joined   bool      // slot is known
	rejoinAt time.Time // when to ask for the slot again; zero: no need
	told     attempt   // the last one that a join told of
}

// An attempt is one of a coordinator's attempts at a record.
type attempt struct {
	n, epoch uint64
	number   uint32
}

// repeats says whether an announcement asks again for a reply that was sent. The first one of an
// attempt that this device knows from the answer to a join may have been on its way with it.
func (m *membership) repeats(a *arrival) bool {
	this := attempt{a.N, a.Epoch, a.Attempt}
	known := m.told == this
	m.told = attempt{}
	if a.asked {
		m.told = this
	}
	return a.asked || !known
}

// rejoin makes this device ask for its slot again, within a while, so that devices do not ask in
// step.
func (c *Client) rejoin() {
	if c.member.rejoinAt.IsZero() {
		c.member.rejoinAt = time.Now().Add(c.pauses.Jitter(3 * c.pulse.often()))
	}
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

// join asks for a slot until the coordinator answers, unless an earlier Run got one. A device that
// has no plan gets it first, and asks for a slot only if it can run the plan.
func (c *Client) join(ctx context.Context) error {
	for !c.member.joined {
		reply, err := insist(ctx, c, c.askToJoin)
		if err == nil {
			err = c.accept(ctx, &reply)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// askToJoin says what this device knows of the run, and asks for its slot.
func (c *Client) askToJoin(ctx context.Context) (wire.JoinReply, error) {
	known, r := wire.Known{}, c.follower.Replica()
	if plan := r.Plan(); plan != nil {
		known = wire.Known{
			Key: wire.KeyTip(plan), Plan: wire.HashRecord(r.PlanRecord()).Tip(),
			N: r.N(), Tip: r.Hash().Tip(),
		}
	}
	return c.link.Join(ctx, &known)
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
		c.cfg.Logger.Info("not joined yet", "err", err, "retry", pause)
		if err := c.report(joining(err)); err != nil {
			return answer, err
		}
		// Full jitter, so that devices that lost their coordinator do not come back in step.
		if err := retry.Sleep(ctx, c.pauses.Jitter(pause)); err != nil {
			return answer, err
		}
		pause = c.pauses.Next(pause)
	}
}

// joining is the progress of a device that could not join yet.
func joining(err error) Progress {
	var later link.LaterError
	if errors.As(err, &later) {
		return Progress{State: Paused, Reason: string(later)}
	}
	return Progress{State: Joining, Err: err}
}

// accept takes the slot and the plan, or only the plan. A refusal is final, and so is a plan that
// this device cannot run. If the plan is not the replica's, another log replaced the one the
// replica followed: [follow.ErrNotOurs].
func (c *Client) accept(ctx context.Context, reply *wire.JoinReply) error {
	if err := refused(reply); err != nil {
		return err
	}
	onlyPlan := reply.Status == wire.JoinPlan
	switch {
	case c.follower.N() == 0:
		if err := c.begins(ctx, reply.Plan); err != nil {
			return err
		}
	case onlyPlan || !bytes.Equal(reply.Plan, c.follower.Replica().PlanRecord()):
		return fmt.Errorf("%w: the log begins with another plan", follow.ErrNotOurs)
	}
	if onlyPlan {
		return nil
	}
	c.outbox.Joined(reply.Slot)
	c.follower.Heard(reply.Last)
	if !c.member.joined || c.member.slot != reply.Slot {
		c.cfg.Logger.Info("joined", "slot", reply.Slot, "last", reply.Last)
	}
	c.member.slot, c.member.joined = reply.Slot, true
	return nil
}

// refused is the error of a device that the coordinator does not let join; nil: it may.
func refused(reply *wire.JoinReply) error {
	if reply.Status == wire.JoinOK || reply.Status == wire.JoinPlan {
		return nil
	}
	return fmt.Errorf("%w: %v: %s", ErrRefused, reply.Status, reply.Reason)
}

// claim says what this device has to a run whose log does not hold it, and returns notOurs once the
// coordinator lets the device go back. Until then the device keeps its state, which may be the last
// copy of what the log lost: the run pauses because of the claim, until a person decides.
func (c *Client) claim(ctx context.Context, notOurs error) error {
	if c.cfg.Passive != nil {
		return notOurs
	}
	reply, err := c.askToJoin(ctx)
	var later link.LaterError
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case retry.Final(err):
		return err
	case errors.As(err, &later):
		return c.report(joining(err))
	case err != nil: // the next announcement brings another chance
		return c.report(Progress{State: CatchingUp, Err: fmt.Errorf("%w: %w", notOurs, err)})
	}
	return cmp.Or(refused(&reply), notOurs)
}

// stillEnded asks whether the coordinator has the run whose end is in the checkpoint. It
// accepts silence: there may be no coordinator any more.
func (c *Client) stillEnded(ctx context.Context) error {
	err := c.follower.Confirm(ctx)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, follow.ErrNotOurs):
		reply, final := insist(ctx, c, c.askToJoin) // a claim: it keeps the model meanwhile
		return cmp.Or(final, refused(&reply), err)
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
	reply, err := c.askToJoin(ctx)
	var later link.LaterError
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case retry.Final(err):
		return err
	case errors.As(err, &later):
		return c.report(joining(err))
	case err != nil:
		c.cfg.Logger.Info("no coordinator", "err", err)
		c.rejoin() // it may be there again, and believe that this device is not
		return nil
	}
	if err := c.accept(ctx, &reply); err != nil {
		return err
	}
	if len(reply.Announcement) > 0 {
		c.inbox.put(reply.Announcement, true)
	}
	return nil
}
