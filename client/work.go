package client

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/zofl/zofl/client/internal/probe"
	"github.com/zofl/zofl/client/internal/retry"
	"github.com/zofl/zofl/client/internal/secagg"
	"github.com/zofl/zofl/internal/grouping"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/survey"
)

// These causes end the context of a round's work.
var (
	errDeadline   = errors.New("the round's time is up")
	errSuperseded = errors.New("a later round was announced")
)

// errUnusable: an announcement asks for something that the plan rules out.
var errUnusable = errors.New("announcement of an impossible round")

// work contributes to the round that a announces, if a asks this device. It computes the reply
// once, and sends the same bytes whenever the round asks again. With transport=dense it sends only
// the pieces that the coordinator lacks.
func (c *Client) work(ctx context.Context, a *arrival) error {
	r := c.follower.Replica()
	plan, tip := r.Plan(), r.Hash().Tip()
	if !c.asks(a, plan) {
		return c.report(Progress{State: Waiting})
	}
	if err := possible(a, plan); err != nil {
		c.inbox.refuse()
		return c.report(Progress{State: Waiting, Err: err})
	}
	if plan.Summed() {
		return c.workMasked(ctx, a)
	}
	repeats := c.member.repeats(a)
	if frame := c.outbox.Frame(&a.Announcement, tip); frame != nil {
		missing, ok := a.Missing()
		if ok && !missing.Has(c.member.slot) || !ok && !repeats { // the reply arrived, or is on its way
			return c.report(Progress{State: Waiting})
		}
		_, err := c.sendKept(ctx, nil, plan, frame)
		return err
	}
	if err := c.withheld(a, plan); err != nil {
		return c.report(Progress{State: Waiting, Err: err})
	}
	if c.backsOff(ctx, a.N, c.lastChance(a)) {
		return c.report(Progress{State: Waiting})
	}
	round := c.working(ctx, a, nil)
	defer round.end()
	if c.outbox.Uploads(&a.Announcement, tip) {
		return c.deliver(ctx, round, a)
	}
	return c.answer(ctx, round, a)
}

// asks says whether an announcement asks this device.
func (c *Client) asks(a *arrival, plan *plan.Plan) bool {
	if grouped(plan) && survey.Asked(a.Rest) == survey.None {
		_, named := grouping.Of(&a.Announcement, c.member.slot)
		return named
	}
	return a.Cohort.Has(plan.Run, c.follower.Replica().Draw(a.N), a.Attempt, c.member.slot, c.cfg.ID)
}

// answer computes and sends the reply to a round that this device has not answered yet.
func (c *Client) answer(ctx context.Context, round *working, a *arrival) error {
	r := c.follower.Replica()
	if err := c.memory.prepare(r); err != nil {
		return err
	}
	t, err := c.task(ctx, a)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case retry.Final(err):
		return err
	case err != nil: // the next announcement brings another chance
		return c.report(Progress{State: Waiting, Err: err})
	}
	if lost := c.memory.lost(r); lost != nil {
		c.cfg.Logger.Warn(lost.Error(), "record", a.N)
		if err := c.reportAside(lost); err != nil {
			return err
		}
	}
	if err := c.report(Progress{State: Working}); err != nil {
		return err
	}
	reply, vector, err := c.contribute(round, a, &t)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case round.superseded.Load():
		return c.report(Progress{State: Waiting, Err: errSuperseded})
	}
	reply.N, reply.Tip = a.N, r.Hash().Tip()
	if vector != nil {
		if err := c.outbox.PromiseVector(&a.Announcement, &reply, vector); err != nil {
			return err
		}
		return c.deliver(ctx, round, a)
	}
	return c.reply(ctx, round, a, &reply, err)
}

// reply stores and sends a reply; fault is the reason for declining, if it declines.
func (c *Client) reply(
	ctx context.Context, round *working, a *arrival, r *wire.Reply, fault error,
) error {
	pause := time.Duration(0)
	if r.Kind == wire.Decline {
		deadline := time.Duration(c.follower.Plan().Deadline) * time.Millisecond
		if !errors.Is(fault, probe.ErrBusy) { // a device that is busy may be free at any moment
			pause = c.backoff.Decline(c.pauses, deadline, errors.Is(fault, probe.ErrPolicy))
		}
		if pause > 0 {
			r.Rest = (&wire.Away{Milliseconds: uint64(pause.Milliseconds())}).Append(nil)
		}
	} else {
		c.backoff = retry.Backoff{}
	}
	private := hidden(c.follower.Plan(), r)
	frame, err := c.outbox.Promise(&a.Announcement, &private)
	if err != nil {
		return err
	}
	sent := true
	if r.Kind == wire.Contribution {
		sent, err = c.sendKept(ctx, round.masks, c.follower.Plan(), frame)
	} else {
		err = c.send(ctx, frame)
	}
	if err != nil || !sent {
		return err
	}
	if r.Kind == wire.Decline {
		c.cfg.Logger.Warn("declined", "record", a.N, "reason", r.Reason, "err", fault, "backoff",
			pause)
		return c.report(Progress{
			State: Waiting, Declined: r.Reason, Backoff: pause, Err: fault,
		})
	}
	return c.report(Progress{State: Waiting, Contributed: true, Loss: float64(r.Loss)})
}

// send publishes a reply. Being offline is no error.
func (c *Client) send(ctx context.Context, frame []byte) error {
	_, err := c.link.Publish(ctx, c.follower.Plan().Shards, frame)
	return err
}

// deliver sends the stored vector before the round closes, and reports the outcome.
func (c *Client) deliver(ctx context.Context, round *working, a *arrival) error {
	loss, sent, err := c.outbox.Deliver(round, &a.Announcement)
	if errors.Is(err, context.Canceled) && round.superseded.Load() {
		err = fmt.Errorf("%w: %w", errSuperseded, err)
	}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case retry.Final(err):
		return err
	case err != nil: // the transfer resumes at the next announcement
		c.cfg.Logger.Warn("vector not sent", "record", a.N, "err", err)
		return c.report(Progress{State: Waiting, Err: err})
	case !sent:
		return c.report(Progress{State: Waiting})
	}
	c.backoff = retry.Backoff{}
	return c.report(Progress{State: Waiting, Contributed: true, Loss: float64(loss)})
}

// A working is the context of the work on one announcement. It ends with the context of Run, or as
// soon as the contribution no longer counts: when the round closes or a later one is announced, or
// with Plan.Late some records later.
type working struct {
	context.Context
	a          *arrival
	late       uint64      // records for which the contribution still counts
	superseded atomic.Bool // ended by a later round
	cancel     context.CancelFunc
	unwatch    func()
	masks      *secagg.Session // the steps of secure aggregation; nil: the reply travels without masks
}

func (c *Client) working(ctx context.Context, a *arrival, masks *secagg.Session) *working {
	w := &working{a: a, late: uint64(c.follower.Plan().Late), masks: masks}
	w.Context, w.cancel = context.WithDeadlineCause(ctx, c.lastChance(a), errDeadline)
	w.unwatch = c.inbox.watched(w.see)
	return w
}

// see ends the work if a later round was announced. Any other new announcement ends the steps of
// secure aggregation. What the device computes serves another attempt, too.
func (w *working) see(later *arrival) {
	if w.masks != nil && !w.a.same(later) {
		w.masks.Supersede()
	}
	if supersedes(later, w.a, w.late) {
		w.superseded.Store(true)
		w.cancel()
	}
}

func (w *working) end() {
	w.unwatch()
	w.cancel()
}

// contribute returns the reply to a round: a contribution, with its vector where devices send
// vectors, or a decline with its reason.
func (c *Client) contribute(
	ctx context.Context, a *arrival, t *probe.Task,
) (r wire.Reply, vector []float32, err error) {
	plan := c.follower.Plan()
	if err := c.ready(ctx, a.N, c.prober.Calls(plan, t), c.lastChance(a)); err != nil {
		return declined(err), nil, err
	}
	weight, err := c.prober.Weight(ctx, plan)
	if err != nil {
		return declined(err), nil, err
	}
	result, err := c.prober.Run(ctx, c.follower.Replica(), *t)
	if err != nil {
		return declined(err), nil, err
	}
	r = wire.Reply{Kind: wire.Contribution, Weight: weight, Loss: float32(result.Loss)}
	if result.Vector != nil {
		return r, result.Vector, nil // the vector travels separately, in pieces
	}
	if t.Survey != survey.None {
		r.Values, r.Rest = wire.AppendScalars(nil, result.Scalars...), survey.Answer(t.Survey)
		return r, nil, nil
	}
	r.Values = slices.Clone(result.Sent)
	if plan.StepAuto > 0 {
		r.Rest = survey.Slope(result.Slope)
	}
	switch {
	case result.Control.N > 0:
		r.Rest = result.Control.Append(nil)
	case grouped(plan):
		r.Rest = grouping.AppendReply(r.Rest, t.Group)
	}
	return r, nil, nil
}

// declined returns the reply of a device that cannot contribute because of err.
func declined(err error) wire.Reply {
	return wire.Reply{Kind: wire.Decline, Reason: reasonOf(err)}
}

func reasonOf(err error) wire.DeclineReason {
	switch {
	case errors.Is(err, errDeadline), errors.Is(err, probe.ErrSlow), errors.Is(err, probe.ErrLate):
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

// task returns the task of an announcement. For that it may have to ask the log for two facts:
// whether a record counted this device's last contribution, and whether that record comes before
// this one.
func (c *Client) task(ctx context.Context, a *arrival) (probe.Task, error) {
	if err := c.memory.recall(ctx, c.follower.Replica(), c.outbox); err != nil {
		return probe.Task{}, err
	}
	t := c.prober.Task(c.follower.Replica(), &a.Announcement, c.member.slot)
	if !c.follower.Plan().SendsControl() || t.Phase == 1 || t.Survey != survey.None {
		return t, nil
	}
	own, err := c.outbox.Control(ctx, t.Missed.N)
	t.Corrects(own)
	return t, err
}

// grouped says whether announcements of a plan name the devices of each group.
func grouped(p *plan.Plan) bool { return p.Sharing == plan.GroupDirections && grouping.Names(p) }

// possible says whether a round fits the plan. With transport=dense scalars stay on the device, so
// there may be more than fit into a reply.
func possible(a *arrival, p *plan.Plan) error {
	if k := survey.Asked(a.Rest); k != survey.None {
		return surveyable(k, p)
	}
	scalars := uint64(p.Steps) * uint64(a.Perturbations)
	many := scalars > plan.MaxScalars && !p.SendsVectors()
	still := a.StepSize == 0 && p.ServerRule == plan.ServerNormalized // x stays, m advances
	if scalars < 1 || many || !(a.StepSize > 0 || still) {
		return fmt.Errorf("%w: %d local steps, %d perturbations, step size %v",
			errUnusable, p.Steps, a.Perturbations, a.StepSize)
	}
	return nil
}

// surveyable says whether a survey fits the plan.
func surveyable(k survey.Kind, p *plan.Plan) error {
	mu := k == survey.Mu && p.Estimator == plan.Differences
	step := k == survey.Step && p.ServerRule == plan.ServerNormalized
	sketch := k == survey.Sketch && p.Groups == grouping.Sketch
	if device, _ := p.Noisy(); device || !mu && !step && !sketch {
		return fmt.Errorf("%w: a survey of kind %d (%v)", errUnusable, k, k)
	}
	return nil
}
