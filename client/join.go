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

// A membership is what a device knows about its place in the run.
type membership struct {
	slot     uint32
	joined   bool      // slot is known
	rejoinAt time.Time // when to ask for the slot again; zero: never
	told     attempt   // the last attempt that the answer to a join named
}

// An attempt is one of a coordinator's attempts at a record.
type attempt struct {
	n, epoch uint64
	number   uint32
}

// repeats says whether an announcement asks again for a reply that this device sent. The answer to
// a join may have named an attempt already. Its first announcement may then have been on the way at
// the same time, and is no repetition.
func (m *membership) repeats(a *arrival) bool {
	this := attempt{a.N, a.Epoch, a.Attempt}
	known := m.told == this
	m.told = attempt{}
	if a.asked {
		m.told = this
	}
	return a.asked || !known
}

// rejoin makes this device ask for its slot again after a random while, so that devices do not all
// ask at once.
func (c *Client) rejoin() {
	if c.member.rejoinAt.IsZero() {
		c.member.rejoinAt = time.Now().Add(c.pauses.Jitter(3 * c.keepalive.often()))
	}
}

// rejoinDue says, once, that it is time to join again. A new coordinator may lack the members that
// joined in the lost tail of its log. Without this, the device would ask only after a silence.
func (m *membership) rejoinDue() bool {
	due := !m.rejoinAt.IsZero() && !time.Now().Before(m.rejoinAt)
	if due {
		m.rejoinAt = time.Time{}
	}
	return due
}

// join asks for a slot until the coordinator answers, unless an earlier Run got one. A device
// without a plan gets the plan first, and asks for a slot only if it can run that plan.
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

// askToJoin tells the coordinator this device's state, and asks for its slot.
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

// insist asks until a coordinator answers. Its error is the cause of ctx, or ends Run.
func insist[T any](
	ctx context.Context, c *Client, ask func(context.Context) (T, error),
) (T, error) {
	pause := c.pauses.First()
	for {
		answer, err := ask(ctx)
		if err == nil {
			return answer, nil
		}
		c.cfg.Logger.Info("not joined yet", "err", err, "retry", pause)
		if err := c.unanswered(ctx, err); err != nil {
			return answer, err
		}
		// The pause is drawn from the whole range, so that devices that lost their coordinator do not
		// return together.
		if err := retry.Sleep(ctx, c.pauses.Jitter(pause)); err != nil {
			return answer, err
		}
		pause = c.pauses.Next(pause)
	}
}

// unanswered reports that a question brought no answer, unless that ends Run: then it returns the
// cause of ctx, or the error.
func (c *Client) unanswered(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case retry.Final(err):
		return err
	}
	return c.report(joining(err))
}

// joining returns the progress of a device that has not joined yet.
func joining(err error) Progress {
	var later link.LaterError
	if errors.As(err, &later) {
		return Progress{State: Paused, Reason: string(later)}
	}
	return Progress{State: Joining, Err: err}
}

// accept takes the slot and the plan from an answer, or only the plan. A refusal ends Run, and so
// does a plan that this device cannot run. If the plan differs from the replica's plan, the replica
// followed another log: [follow.ErrNotOurs].
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

// refused returns the error of a device that the coordinator does not let join; nil: the device may
// join.
func refused(reply *wire.JoinReply) error {
	if reply.Status == wire.JoinOK || reply.Status == wire.JoinPlan {
		return nil
	}
	return fmt.Errorf("%w: %v: %s", ErrRefused, reply.Status, reply.Reason)
}

// claim tells the run which record this device holds and the log does not. It returns notOurs once
// the coordinator lets the device go back. Until then the device keeps its state, which may be the
// last copy of the lost records: the claim pauses the run until a person decides.
func (c *Client) claim(ctx context.Context, notOurs error) error {
	if c.cfg.Passive != nil {
		return notOurs
	}
	reply, err := c.askToJoin(ctx)
	if err != nil { // the next announcement brings another chance
		return c.unanswered(ctx, err)
	}
	return cmp.Or(refused(&reply), notOurs)
}

// stillEnded asks whether the coordinator has the run whose end the checkpoint holds. It accepts
// silence, because the coordinator may be gone for good.
func (c *Client) stillEnded(ctx context.Context) error {
	err := c.follower.Confirm(ctx)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(err, follow.ErrNotOurs):
		reply, final := insist(ctx, c, c.askToJoin) // a claim: the device keeps its model meanwhile
		return cmp.Or(final, refused(&reply), err)
	case err != nil:
		c.cfg.Logger.Info("no coordinator confirmed the run's end, keeping it", "err", err)
	}
	return nil
}

// askWhatIsOpen joins again after the device has subscribed. The answer carries the current
// announcement, which would otherwise reach the device only when the coordinator repeats it. There
// are two more reasons: the slot may have changed since an earlier Run, and a coordinator that lost
// its log announces nothing until enough devices have joined. Silence is harmless.
func (c *Client) askWhatIsOpen(ctx context.Context) error {
	reply, err := c.askToJoin(ctx)
	switch {
	case ctx.Err() != nil, retry.Final(err), errors.As(err, new(link.LaterError)):
		return c.unanswered(ctx, err)
	case err != nil:
		c.cfg.Logger.Info("no coordinator", "err", err)
		c.rejoin() // the coordinator may be back, and count this device as absent
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
