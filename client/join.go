package client

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client/internal/follow"
	"github.com/zofl/zofl/client/internal/link"
	"github.com/zofl/zofl/client/internal/retry"
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/wire"
)

// A membership is what a device knows about its place in the run.
type membership struct {
	slot     uint32
	joined   bool      // slot is known
	rejoinAt time.Time // when to ask for the slot again; zero: never
	told     attempt   // the last attempt that the answer to a join named
	answers  uint64    // that gave this device its slot
	doubt    retry.Doubt
}

// An attempt is one of a coordinator's attempts at a record.
type attempt struct {
	n, epoch uint64
	number   uint32
}

// repeats says whether an announcement asks again for a reply that this device sent. The answer to
// a join may have named the attempt before. The attempt's first announcement may then have been on
// the way at the same time, and does not count as a repetition.
func (m *membership) repeats(a *arrival) bool {
	this := attempt{a.N, a.Epoch, a.Attempt}
	known := m.told == this
	m.told = attempt{}
	if a.asked {
		m.told = this
	}
	return a.asked || !known
}

// rejoin makes this device ask for its slot again after a random time, so that devices do not all
// ask at once.
func (c *Client) rejoin() {
	if c.member.rejoinAt.IsZero() {
		c.member.rejoinAt = time.Now().Add(c.pauses.Jitter(3 * c.keepalive.often()))
	}
}

// rejoinDue says, once, that it is time to join again. A new coordinator may have lost the last
// records of its log, and with them the members that joined in these records. Otherwise the device
// would ask only after a silence.
func (m *membership) rejoinDue() bool {
	due := !m.rejoinAt.IsZero() && !time.Now().Before(m.rejoinAt)
	if due {
		m.rejoinAt = time.Time{}
	}
	return due
}

// enter gets what a client needs before it subscribes: the plan and, for a device, its slot. A
// device without a plan gets the plan first, and asks for a slot only if it can run that plan.
func (c *Client) enter(ctx context.Context) (next, error) {
	switch {
	case c.follower.Replica().Ended() != nil && !c.member.joined:
		return goOn((*Client).stillEnded)
	case c.cfg.Passive != nil:
		return goOn((*Client).begin)
	case c.member.joined: // by an earlier Run
		return next{}, nil
	}
	reply, err := c.askToJoin(ctx)
	if err != nil {
		return c.unanswered(ctx, err, &c.member.doubt, (*Client).enter)
	}
	return next{then: (*Client).enter}, c.accept(ctx, &reply)
}

// askToJoin tells the coordinator this device's state, and asks for its slot. A passive replica
// names no plan. Then the coordinator gives it no slot, and says only whether the replica's log is
// the run's.
func (c *Client) askToJoin(ctx context.Context) (wire.JoinReply, error) {
	known, r := wire.Known{}, c.follower.Replica()
	if plan := r.Plan(); plan != nil {
		known = wire.Known{
			Key: wire.KeyTip(plan), Plan: wire.HashRecord(r.PlanRecord()).Tip(),
			N: r.N(), Tip: r.Hash().Tip(),
		}
	}
	if c.cfg.Passive != nil {
		known.Plan = wire.Tip{}
	}
	return c.link.Join(ctx, &known, c.member.joined)
}

// unanswered asks again after a pause, since no coordinator answered, or somebody with a claim.
func (c *Client) unanswered(ctx context.Context, err error, doubt *retry.Doubt,
	again step) (next, error) {
	if err := c.judge(ctx, err, doubt); err != nil {
		return next{}, err
	}
	if errors.Is(err, bus.ErrOffline) {
		c.cfg.Logger.Info("not joined yet", "err", err)
		return telling(joining(err), online(again))
	}
	// Draw the pause from the whole range, so that devices that lost their coordinator do not return
	// together.
	c.cfg.Logger.Info("not joined yet", "err", err, "retry", c.session.pause)
	wait := c.pauses.Jitter(c.session.pause)
	c.session.pause = c.pauses.Next(c.session.pause)
	return next{Progress: joining(err), tells: true, wait: wait, then: again}, nil
}

// offlineLook bounds the pause between two looks at a connection that is down. A look sends
// nothing.
const offlineLook = 2 * time.Second

// online returns a step that waits until the connection is back, and then takes another step. The
// pauses before questions do not grow meanwhile: no question was sent, and a whole fleet may be
// offline with its coordinator.
func online(then step) step {
	return func(c *Client, ctx context.Context) (next, error) {
		err := c.link.Check(ctx, subjects.Join(c.cfg.Run, c.cfg.ID), c.link.Timeout())
		if errors.Is(err, bus.ErrOffline) {
			look := c.pauses.Jitter(min(offlineLook, c.cfg.RetryMax))
			return next{wait: look, then: online(then)}, nil
		}
		return next{wait: c.pauses.Jitter(c.pauses.First()), then: then}, nil
	}
}

// joining returns the progress of a device that has not joined yet.
func joining(err error) Progress {
	var later link.LaterError
	if errors.As(err, &later) {
		return Progress{State: Paused, Reason: string(later)}
	}
	return Progress{State: Joining, Err: err}
}

// unheard waits for announcements, since nobody answered the question how far the run is. unheard
// reports a silence only now: a coordinator that answers is there, even if it announces nothing.
func (c *Client) unheard(ctx context.Context, err error, doubt *retry.Doubt) (next, error) {
	c.cfg.Logger.Info("no answer", "err", err)
	silence := c.session.silence
	c.session.silence = nil
	if final := c.judge(ctx, err, doubt); final != nil || silence == nil {
		return next{then: (*Client).listen}, final
	}
	return telling(waiting(fmt.Errorf("%w (%w)", silence, err)), (*Client).listen)
}

// accept takes the slot and the plan from an answer, or only the plan. If the coordinator refuses
// the device, or the device cannot run the plan, accept returns a [retry.Claim]. If the app refuses
// the plan, accept returns an error that ends Run. If the plan differs from the replica's plan, the
// replica followed another log, and accept returns [follow.ErrNotOurs].
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
	c.member.slot, c.member.joined, c.member.answers = reply.Slot, true, c.member.answers+1
	return nil
}

// refused returns the claim that the coordinator does not let a device join; nil: the device may
// join.
func refused(reply *wire.JoinReply) error {
	if reply.Status == wire.JoinOK || reply.Status == wire.JoinPlan {
		return nil
	}
	return retry.Claim{Err: fmt.Errorf("%w: %v: %s", ErrRefused, reply.Status, reply.Reason)}
}

// claim tells the coordinator which record this device has that the log lacks. claim returns
// notOurs once the coordinator lets the device go back. Until then the device keeps its state,
// because that may be the last copy of the lost records. The claim pauses the run until the
// operator decides.
func (c *Client) claim(ctx context.Context, notOurs error) (next, error) {
	reply, err := c.askToJoin(ctx)
	if err == nil && c.cfg.Passive == nil {
		err = refused(&reply)
	}
	switch {
	case err != nil && c.cfg.Passive != nil && errors.Is(err, bus.ErrPermission):
		c.cfg.Logger.Error("the broker does not let this replica tell the coordinator: give its user "+
			"what `zofl permissions` lists, or a new file of zofl device add",
			"record", c.follower.N(), "err", err)
		return next{}, notOurs
	case err != nil: // the next announcement brings another chance
		return next{Progress: joining(err), tells: true, then: (*Client).hear},
			c.judge(ctx, err, &c.member.doubt)
	}
	return next{}, notOurs
}

// stillEnded asks whether the coordinator has the run whose end is in the checkpoint. If no
// coordinator answers, stillEnded keeps the end, because the coordinator may be gone for good.
func (c *Client) stillEnded(ctx context.Context) (next, error) {
	err := c.follower.Confirm(ctx)
	switch {
	case ctx.Err() != nil:
		return next{}, context.Cause(ctx)
	case errors.Is(err, follow.ErrNotOurs):
		return goOn((*Client).claimEnd)
	case err != nil:
		c.cfg.Logger.Info("no coordinator confirmed the run's end, keeping it", "err", err)
	}
	return next{}, nil
}

// claimEnd claims the end of the run, because the log does not hold it, until the coordinator
// answers. The device keeps its model meanwhile.
func (c *Client) claimEnd(ctx context.Context) (next, error) {
	reply, err := c.askToJoin(ctx)
	if err == nil {
		err = refused(&reply)
	}
	if err != nil {
		return c.unanswered(ctx, err, &c.member.doubt, (*Client).claimEnd)
	}
	return next{}, follow.ErrNotOurs
}

// look asks how far the run is. Otherwise an announcement made before this client subscribed would
// reach the client only when the coordinator repeats it.
//
// A device asks by joining again, for two more reasons. The slot may have changed since an earlier
// Run. And a coordinator that lost its log announces nothing until enough devices have joined. If
// nobody answers, the device waits for announcements.
func (c *Client) look(ctx context.Context) (next, error) {
	if c.cfg.Passive != nil {
		return goOn((*Client).pull)
	}
	reply, err := c.askToJoin(ctx)
	switch {
	case err == nil:
	case errors.As(err, new(link.LaterError)):
		c.session.silence = nil
		return next{Progress: joining(err), tells: true, then: (*Client).listen},
			c.judge(ctx, err, &c.member.doubt)
	default:
		c.rejoin() // the coordinator may be back, and count this device as absent
		return c.unheard(ctx, err, &c.member.doubt)
	}
	c.session.silence = nil
	if err := c.accept(ctx, &reply); err != nil {
		return c.turnedAway(ctx, err)
	}
	if len(reply.Announcement) > 0 {
		c.inbox.put(reply.Announcement, true)
		return goOn((*Client).listen)
	}
	waits := c.awaits(&reply)
	if waits == "" {
		return goOn((*Client).listen)
	}
	if waits != c.session.waits {
		c.cfg.Logger.Info(waits)
	}
	c.session.waits = waits
	return telling(Progress{State: Waiting, Reason: waits}, (*Client).listen)
}

// turnedAway goes on after an answer to look that would end Run, if the device doubts the answer.
func (c *Client) turnedAway(ctx context.Context, err error) (next, error) {
	if !retry.Claimed(err) {
		return next{}, err
	}
	c.rejoin()
	return next{Progress: waiting(err), tells: true, then: (*Client).listen},
		c.judge(ctx, err, &c.member.doubt)
}

// awaits says for how many devices round 1 waits, as far as this device knows: devices get their
// slots in order. awaits returns "" if round 1 may begin.
func (c *Client) awaits(reply *wire.JoinReply) string {
	joined, p := reply.Slot+1, c.follower.Plan()
	if c.follower.Replica().Rounds() > 0 || joined >= p.Members {
		return ""
	}
	return fmt.Sprintf("at least %d of %d devices have joined, and round 1 waits for all", joined,
		p.Members)
}
