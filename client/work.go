package client

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/zofl/zofl/client/internal/probe"
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

// work contributes to the round that a announces, if a asks this device. It computes the answer
// once, and sends the same bytes whenever the round asks again.
func (c *Client) work(ctx context.Context, a *arrival) (next, error) {
	p := c.follower.Plan()
	if !c.asks(a, p) {
		return idle(nil)
	}
	if err := possible(a, p); err != nil {
		c.inbox.refuse()
		return idle(err)
	}
	switch {
	case p.Summed():
		return c.workMasked(ctx, a)
	case p.SendsVectors():
		return c.workVector(ctx, a)
	}
	return c.workScalars(ctx, a)
}

// worked tells what became of the work on a round, before the device reports its state.
func worked(p Progress, err error) (next, error) {
	return next{Progress: p, tells: true, then: (*Client).reportState}, err
}

// idle is what follows where there is no more to do for a round. fault is the reason; nil: none.
func idle(fault error) (next, error) { return worked(waiting(fault), nil) }

// fails is what follows from an error in the work on a round.
func fails(ctx context.Context, err error) (next, error) {
	return worked(waiting(err), ends(ctx, err))
}

// asks says whether an announcement asks this device.
func (c *Client) asks(a *arrival, p *plan.Plan) bool {
	if grouped(p) && survey.Asked(a.Rest) == survey.None {
		_, named := grouping.Of(&a.Announcement, c.member.slot)
		return named
	}
	return a.Cohort.Has(p.Run, c.follower.Replica().Draw(a.N), a.Attempt, c.member.slot, c.cfg.ID)
}

// sendAgain sends the reply that this device promised, if the coordinator lacks it. kept is false
// if there is none.
func (c *Client) sendAgain(ctx context.Context, a *arrival) (fault error, kept bool, err error) {
	repeats := c.member.repeats(a)
	frame := c.outbox.Frame(&a.Announcement, c.follower.Replica().Hash().Tip())
	if frame == nil {
		return nil, false, nil
	}
	missing, ok := a.Missing()
	if ok && !missing.Has(c.member.slot) || !ok && !repeats {
		return nil, true, nil // the reply arrived, or is on its way
	}
	fault, err = c.unkept()
	if fault == nil && err == nil {
		err = c.send(ctx, frame)
	}
	return fault, true, err
}

// abstains says whether this device computes no answer to a round now, and why if that is worth
// telling.
func (c *Client) abstains(ctx context.Context, a *arrival) (why error, abstains bool) {
	if c.addsNoise() {
		if why := c.withheld(a); why != nil {
			return why, true
		}
	}
	return nil, c.backsOff(ctx, a.N, c.lastChance(a))
}

// A sender stores and sends the reply to a round, with the vector if there is one.
type sender func(context.Context, *working, *wire.Reply, []float32) (Progress, error)

// computing tells that the device works, and then computes a task. fault is what it tells, too.
func computing(a *arrival, t probe.Task, fault error, send sender) (next, error) {
	p := Progress{State: Working, Err: fault}
	return telling(p, func(c *Client, ctx context.Context) (next, error) {
		round := c.working(ctx, a, nil)
		defer round.end()
		return worked(c.compute(ctx, round, &t, send))
	})
}

// compute has the app evaluate a task and sends the reply. It declines if the evaluation fails.
func (c *Client) compute(
	ctx context.Context, round *working, t *probe.Task, send sender,
) (Progress, error) {
	r, vector, fault := c.contribute(round, round.a, t)
	r.N, r.Tip = round.a.N, c.follower.Replica().Hash().Tip()
	switch {
	case ctx.Err() != nil:
		return Progress{}, context.Cause(ctx)
	case round.superseded.Load(): // no coordinator waits for a reply
		return waiting(errSuperseded), nil
	case fault != nil:
		return c.decline(ctx, round.a, &r, fault)
	}
	return send(ctx, round, &r, vector)
}

// send publishes a reply. Being offline is no error.
func (c *Client) send(ctx context.Context, frame []byte) error {
	_, err := c.link.Publish(ctx, c.follower.Plan().Shards, frame)
	return err
}

// contribute returns the reply to a round: a contribution, with its vector where devices send
// vectors, or a decline with its reason.
func (c *Client) contribute(
	ctx context.Context, a *arrival, t *probe.Task,
) (r wire.Reply, vector []float32, err error) {
	p := c.follower.Plan()
	if err := c.ready(ctx, a.N, c.prober.Calls(p, t), c.lastChance(a)); err != nil {
		return declined(err), nil, err
	}
	weight, err := c.prober.Weight(ctx, p)
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
	if p.StepAuto > 0 {
		r.Rest = survey.Slope(result.Slope)
	}
	switch {
	case result.Control.N > 0:
		r.Rest = result.Control.Append(nil)
	case grouped(p):
		r.Rest = grouping.AppendReply(r.Rest, t.Group)
	}
	return r, nil, nil
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
// secure aggregation. The computed contribution also serves another attempt.
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
