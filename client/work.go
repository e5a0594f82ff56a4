package client

import (
	"context"
	"errors"
	"fmt"

	"github.com/zofl/zofl/client/internal/probe"
	"github.com/zofl/zofl/wire"
)

// Why a round's context ends before its work is done.
var (
	errDeadline   = errors.New("the round's time is up")
	errSuperseded = errors.New("a later round was announced")
)

// sent is the last reply to a round, kept to be sent again as it is.
type sent struct {
	n     uint64
	tip   wire.Tip
	frame []byte
	final bool // a contribution; a decline stands for its attempt only
	epoch uint64
	tries uint32  // the attempt
	step  float32 // what the announcement asked for
	p     uint32
}

// answers says whether s is the reply to an announcement.
func (s *sent) answers(a *arrival, tip wire.Tip) bool {
	return s.n == a.N && s.tip == tip && s.step == a.Step && s.p == a.Perturbations && (s.final || s.epoch == a.Epoch && s.tries == a.Attempt)
}

// work contributes to the round of a, if it asks this device: it computes the
// reply once and sends the same bytes however often it is asked, of a dense run
// those that the coordinator does not have.
func (c *Client) work(ctx context.Context, a *arrival) error {
	plan := c.replica.Plan()
	if !a.Cohort.Has(plan.Run, a.N, a.Attempt, c.slot, c.cfg.ID) {
		return c.record(Progress{State: Waiting})
	}
	if err := possible(a, plan); err != nil {
		c.inbox.refuse()
		return c.record(Progress{State: Waiting, Err: err})
	}
	tip := c.replica.Hash().Tip()
	for _, s := range []*sent{&c.reply, &c.declined} {
		if s.answers(a, tip) {
			_, err := c.publish(ctx, s.frame)
			return err
		}
	}
	if c.upload.answers(a, tip) {
		return c.resumeUpload(ctx, a)
	}
	t, err := c.task(ctx, a, plan)
	if err == nil {
		if err := c.remember(plan); err != nil {
			return err
		}
	}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case fatal(err):
		return err
	case err != nil: // the next announcement brings another chance
		return c.record(Progress{State: Waiting, Err: err})
	}
	if err := c.record(Progress{State: Working}); err != nil {
		return err
	}
	round, cancel := c.roundContext(ctx, a)
	defer cancel()
	reply, err := c.contribute(round, a, &t, plan)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case errors.Is(context.Cause(round), errSuperseded):
		return c.record(Progress{State: Waiting, Err: errSuperseded})
	}
	reply.N, reply.Tip = a.N, tip
	if reply.Kind == wire.Contribution && c.dense() {
		return c.offer(ctx, round, a, &reply)
	}
	return c.answer(ctx, a, &reply, err)
}

// answer sends a reply, and keeps it; fault is why a decline is one.
func (c *Client) answer(ctx context.Context, a *arrival, reply *wire.Reply, fault error) error {
	if reply.Kind == wire.Contribution {
		// What the last one came to, before this takes its place.
		if err := c.keepVariates(); err != nil {
			return err
		}
	}
	frame := reply.Append(nil)
	if reply.Reason != wire.DeclineBusy { // busy is soon over
		kept := &c.declined
		if reply.Kind == wire.Contribution {
			kept = &c.reply
		}
		*kept = sent{
			n: a.N, tip: reply.Tip, frame: frame, final: reply.Kind == wire.Contribution,
			epoch: a.Epoch, tries: a.Attempt, step: a.Step, p: a.Perturbations,
		}
	}
	if reply.Kind == wire.Contribution {
		if err := c.keepReply(); err != nil {
			return err
		}
	}
	if _, err := c.publish(ctx, frame); err != nil {
		return err
	}
	if reply.Kind == wire.Decline {
		c.cfg.Logger.Warn("declined", "record", a.N, "reason", reply.Reason, "err", fault)
		return c.record(Progress{State: Waiting, Declined: reply.Reason, Err: fault})
	}
	return c.record(Progress{State: Waiting, Contributed: true, Loss: float64(reply.Loss)})
}

// roundContext returns a context that ends with ctx, when the round closes, or
// when a later one is announced.
func (c *Client) roundContext(ctx context.Context, a *arrival) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancelCause(ctx)
	ctx, stop := context.WithDeadlineCause(ctx, a.closes, errDeadline)
	unwatch := c.inbox.watched(func(later *arrival) {
		if later.N > a.N && later.Epoch >= a.Epoch {
			cancel(errSuperseded)
		}
	})
	return ctx, func() {
		unwatch()
		stop()
		cancel(nil)
	}
}

// contribute returns the reply to a round: a contribution, of a dense run without
// its vector, or a decline and what was in the way.
func (c *Client) contribute(ctx context.Context, a *arrival, t *probe.Task, plan *wire.Plan) (wire.Reply, error) {
	if err := c.prober.Ready(ctx, a.N, t.Queries(plan), a.closes); err != nil {
		return declined(err), err
	}
	weight, err := c.prober.Weight(ctx, plan)
	if err != nil {
		return declined(err), err
	}
	result, err := c.prober.Run(ctx, c.replica, *t)
	if err != nil {
		return declined(err), err
	}
	reply := wire.Reply{Kind: wire.Contribution, Weight: weight, Loss: float32(result.Loss)}
	if plan.SendsVectors() {
		c.vector = result.Vector // it travels by itself
		return reply, nil
	}
	reply.Values = plan.Precision.Append(make(wire.Scalars, 0, plan.Precision.Width()*len(result.Scalars)), result.Scalars...)
	if result.Control.N > 0 {
		reply.Rest = result.Control.Append(nil)
	}
	return reply, nil
}

// declined makes the reply of a device that cannot contribute because of err.
func declined(err error) wire.Reply {
	return wire.Reply{Kind: wire.Decline, Reason: reasonOf(err)}
}

func reasonOf(err error) wire.DeclineReason {
	switch {
	case errors.Is(err, errDeadline), errors.Is(err, probe.ErrSlow):
		return wire.DeclineTime
	case errors.Is(err, probe.ErrBusy):
		return wire.DeclineBusy
	case errors.Is(err, probe.ErrPolicy):
		return wire.DeclinePolicy
	case errors.Is(err, probe.ErrTooLarge):
		return wire.DeclineTooLarge
	}
	return wire.DeclineLoss
}

// task returns the task of an announcement. It may have to ask the log what became of
// this device's last contribution.
func (c *Client) task(ctx context.Context, a *arrival, plan *wire.Plan) (probe.Task, error) {
	t := c.prober.Task(c.replica, &a.Announcement, c.slot)
	if !plan.SendsControl() || t.Phase == 1 {
		return t, nil
	}
	own, err := c.variate(ctx, t.Missed.N)
	t.Corrects(own)
	return t, err
}

// possible says whether the plan can have made a round. With transport=dense scalars stay
// on the device, so that there may be more of them than a reply has.
func possible(a *arrival, plan *wire.Plan) error {
	scalars := uint64(plan.Steps) * uint64(a.Perturbations)
	many := scalars > wire.MaxScalars && !plan.SendsVectors()
	if scalars < 1 || many || !(a.Step > 0) {
		return fmt.Errorf("%w: %d steps of %d perturbations and size %v",
			errUnusable, plan.Steps, a.Perturbations, a.Step)
	}
	return nil
}

// publish sends a reply, and says whether it could. Being offline is no error:
// the round is lost to this device, and the next announcement shows where the
// run is.
func (c *Client) publish(ctx context.Context, frame []byte) (sent bool, err error) {
	subject := wire.ReplySubject(c.cfg.Run, c.shard(), c.cfg.ID)
	err = c.cfg.Bus.Publish(subject, frame)
	sent = err == nil
	if err == nil && !c.allowed {
		// The server denies a publish in silence: ask once.
		err = c.check(ctx, subject)
		c.allowed = err == nil
	}
	switch {
	case fatal(err):
		return false, fmt.Errorf("reply: %w", err)
	case err != nil:
		c.cfg.Logger.Warn("reply not sent", "err", err)
	}
	return sent, nil
}
