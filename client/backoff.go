package client

import (
	"context"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/wire"
)

// backsOff says whether this device, whose backoff has not ended, skips a round that asks it.
func (c *Client) backsOff(ctx context.Context, n uint64, closes time.Time) bool {
	r := &c.backoff
	if !r.Policy {
		return true
	}
	if c.ready(ctx, n, c.prober.Usual(c.follower.Replica()), closes) != nil {
		return true
	}
	r.End()
	return false
}

// endBackoff ends a device's backoff if the app's policy allows work again while the run is paused.
// The device then joins again, because the run may have paused for lack of devices.
func (c *Client) endBackoff(ctx context.Context) {
	if r := &c.backoff; !r.Policy || !r.Lasts() {
		return
	}
	left := time.Duration(c.follower.Plan().Deadline) * time.Millisecond
	if !c.backsOff(ctx, c.follower.N()+1, time.Now().Add(left)) {
		c.member.rejoinAt = time.Now()
	}
}

// goodbyeWithin bounds how long Run waits until the goodbye is sent.
const goodbyeWithin = time.Second

// leave sends a goodbye, so that no round waits for this device until it returns.
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
