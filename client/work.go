package client

import (
	"context"
	"errors"
	"fmt"

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
func (c *Client) contribute(ctx context.Context, a *arrival, t *task, plan *wire.Plan) (wire.Reply, error) {
	if err := c.ready(ctx, a, t.queries(plan)); err != nil {
		return declined(err), err
	}
	weight, err := c.weight(ctx, plan)
	if err != nil {
		return declined(err), err
	}
	e := c.estimation(t, plan)
	if err := e.run(ctx); err != nil {
		return declined(err), err
	}
	reply := wire.Reply{Kind: wire.Contribution, Weight: weight, Loss: float32(e.loss)}
	if plan.Transport == wire.DenseVectors {
		return reply, nil // the vector travels by itself
	}
	c.watchZeros(e.scalars)
	reply.Values = plan.Precision.Append(make(wire.Scalars, 0, plan.Precision.Width()*len(e.scalars)), e.scalars...)
	if e.own.N > 0 {
		reply.Rest = e.own.Append(nil)
	}
	return reply, nil
}

// zerosWorthAWarning is how many rounds without any slope are no accident.
const zerosWorthAWarning = 3

// watchZeros warns of an engine whose weights have steps larger than mu: the
// loss then does not move at all.
func (c *Client) watchZeros(g []float32) {
	for _, v := range g {
		if v != 0 {
			c.zeros = 0
			return
		}
	}
	if c.zeros++; c.zeros == zerosWorthAWarning {
		c.cfg.Logger.Warn("the loss did not move in 3 rounds: does the engine round the weights " +
			"to steps above mu? raise mu, or mu_scale of the segments it rounds; scalars below 3e-8 are 0 with precision=half")
	}
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
