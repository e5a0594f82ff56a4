package client

import (
	"context"
	"fmt"

	"github.com/zofl/zofl/client/internal/follow"
	"github.com/zofl/zofl/client/internal/retry"
)

// tell tells the Recorder the client's progress. An error of the Recorder ends Run.
func (c *Client) tell(p Progress) error {
	c.state = p.State
	r := c.follower.Replica()
	p.N, p.Last, p.Round, p.Phase = r.N(), c.follower.Last(), r.Rounds(), r.Phase()
	p.Queries, p.Gradients = c.prober.Queries(), c.prober.Gradients()
	p.Refused, p.Skipped = c.inbox.refusals()
	refused, skipped := c.link.Refusals()
	p.Refused, p.Skipped = p.Refused+refused, p.Skipped+skipped
	if c.serves() {
		p.Refused += c.server.refusals()
	}
	if p.Err != nil {
		p.Err = fmt.Errorf("client: %w", p.Err)
	}
	if err := c.cfg.Recorder.Record(p); err != nil {
		return fmt.Errorf("%w: %w", retry.ErrRecorder, err)
	}
	return nil
}

// Report sends the operator a number of the app's own, by name: a temperature, an accuracy of this
// device alone. The coordinator's history keeps, of each round, the median, the least and the
// greatest of the devices' values. Of values that follow each other fast, Report sends the last:
// four times a second at first, later every ten seconds, with at most 16 names at a time. Nobody
// trains with these numbers, and the coordinator sees them, whatever the plan hides. Call Report
// from any goroutine, at any time. The error matches [deviceinfo.ErrValues], or [ErrConfig] for a
// passive replica.
func (c *Client) Report(name string, value float64) error {
	if c.cfg.Passive != nil {
		return fmt.Errorf("client: %w: Passive: such a replica reports nothing", ErrConfig)
	}
	if err := c.link.Report(name, value); err != nil {
		return fmt.Errorf("client: %w", err)
	}
	return nil
}

// tellRest sends the numbers that the app reported in the last round. The coordinator of a run that
// has ended may be gone already.
func (c *Client) tellRest(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, goodbyeWithin)
	defer cancel()
	if _, err := c.askToJoin(ctx); err != nil {
		c.cfg.Logger.Info("the last numbers were not reported", "err", err)
	}
}

// waiting is the progress of a device that has no more to do for a round. fault is the reason; nil:
// none.
func waiting(fault error) Progress { return Progress{State: Waiting, Err: fault} }

// contributed is the progress of a device that has sent its contribution.
func contributed(loss float32) Progress {
	return Progress{State: Waiting, Contributed: true, Loss: float64(loss)}
}

// ends returns the error that ends a session after something failed with err. The result is the
// cause of ctx, or err itself if waiting does not cure err; nil: the next announcement is another
// chance.
func ends(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case retry.Final(err):
		return err
	}
	return nil
}

// judge does the work of ends after an answer that may be a [retry.Claim]. A claim that the
// coordinator signed ends Run at once. doubt counts the others: it is c.doubt for what the log
// says, and c.member.doubt for answers to a join.
func (c *Client) judge(ctx context.Context, err error, doubt *retry.Doubt) error {
	switch {
	case ctx.Err() != nil || !retry.Claimed(err):
		return ends(ctx, err)
	case c.pinned:
		return err
	}
	good := c.follower.Reached()
	if doubt == &c.member.doubt {
		good = c.member.answers
	}
	final := doubt.Judge(err, good, c.follower.N() == 0)
	if final == nil && doubt.Begins() {
		c.cfg.Logger.Warn("an answer would end this device's part in the run: asking again, "+
			"because without the coordinator's key anybody may have sent it", "err", err)
	}
	return final
}

// reportAside reports a fault that does not change the client's state.
func (c *Client) reportAside(err error) error {
	return c.tell(Progress{State: c.state, Err: err})
}

// reportFollowing passes a report of the follower to the Recorder.
func (c *Client) reportFollowing(p follow.Progress) error {
	if p.Aside {
		return c.reportAside(p.Err)
	}
	return c.tell(Progress{
		State: CatchingUp, Snapshot: p.Snapshot, Vector: p.Vector,
		Received: p.Received, Size: p.Size, Err: p.Err,
	})
}

// reportUpload passes a report of the outbox to the Recorder.
func (c *Client) reportUpload(n, received, size uint64) error {
	return c.tell(Progress{State: Working, Vector: n, Received: received, Size: size})
}
