package client

import (
	"context"
	"errors"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client/internal/probe"
	"github.com/zofl/zofl/client/internal/retry"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/subjects"
)

// A recess is a time in which this device takes no part. A device that declines several rounds in a
// row goes into recess and tells the coordinator for how long, so that nobody waits for it. Each
// recess is twice as long as the last, and varies, so that devices do not come back in step. None
// is longer than Config.RetryMax or recessDeadlines.
type recess struct {
	declines int           // since the last contribution
	bound    time.Duration // of the last recess
	until    time.Time
	policy   bool // the app's policy declined: the recess ends when it allows work again
}

const (
	// declinesBefore is how many declines in a row a device sends before it goes into recess.
	declinesBefore = 3
	// recessDeadlines bounds a recess, in deadlines of the plan: rounds that are short are worth a
	// try sooner.
	recessDeadlines = 16
)

// decline notes a decline and returns how long a recess it begins, 0 for none. A device that is
// busy may be free at any moment.
func (r *recess) decline(p *retry.Pauses, deadline time.Duration, fault error) time.Duration {
	if errors.Is(fault, probe.ErrBusy) {
		return 0
	}
	switch r.declines++; {
	case r.declines <= declinesBefore:
		return 0
	case r.declines == declinesBefore+1:
		r.bound = p.First()
	default:
		r.bound = p.Next(r.bound)
	}
	r.bound = min(r.bound, recessDeadlines*deadline)
	r.policy = errors.Is(fault, probe.ErrPolicy)
	pause := r.bound/2 + p.Jitter(max(r.bound/2, 1))
	r.until = time.Now().Add(pause)
	return pause
}

// inRecess says whether this device takes no part in a round that asks it.
func (c *Client) inRecess(ctx context.Context, n uint64, closes time.Time) bool {
	r := &c.recess
	if !time.Now().Before(r.until) {
		return false
	}
	if !r.policy {
		return true
	}
	if c.ready(ctx, n, c.prober.Usual(c.follower.Replica()), closes) != nil {
		return true
	}
	r.until = time.Time{}
	return false
}

// endRecess ends a recess if the app's policy allows work again while the run is paused, and then
// joins again: the run may have paused because this device was missing.
func (c *Client) endRecess(ctx context.Context) {
	if r := &c.recess; !r.policy || !time.Now().Before(r.until) {
		return
	}
	left := time.Duration(c.follower.Plan().Deadline) * time.Millisecond
	if !c.inRecess(ctx, c.follower.N()+1, time.Now().Add(left)) {
		c.member.rejoinAt = time.Now()
	}
}

// goodbyeWithin bounds how long Run waits until the goodbye is on its way.
const goodbyeWithin = time.Second

// leave says goodbye, so that no round waits for this device until it is back.
func (c *Client) leave(ctx context.Context) {
	r := c.follower.Replica()
	if !c.member.joined || r.Plan() == nil || r.Ended() != nil {
		return
	}
	goodbye := wire.Reply{
		Kind: wire.Decline, N: r.N() + 1, Tip: r.Hash().Tip(), Reason: wire.DeclineLeaving,
	}
	subject := subjects.Reply(c.cfg.Run, subjects.Shard(c.cfg.ID, r.Plan().Shards), c.cfg.ID)
	err := c.cfg.Bus.Publish(subject, goodbye.Append(nil))
	if err == nil { // the app may close the connection once Run returns
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), goodbyeWithin)
		defer cancel()
		err = bus.Check(ctx, c.cfg.Bus, subject)
	}
	if err != nil {
		c.cfg.Logger.Info("goodbye not sent", "err", err)
	}
}
