package client

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/zofl/zofl/client/internal/probe"
	"github.com/zofl/zofl/client/internal/secagg"
	"github.com/zofl/zofl/internal/grouping"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/survey"
)

// These causes end the context of a round's work.
var (
	errDeadline   = errors.New("the round's time is up: raise deadline if that happens often")
	errSuperseded = errors.New("a later round was announced")
)

// errUnusable says that an announcement asks for something that the plan rules out.
var errUnusable = errors.New("announcement of an impossible round")

// work contributes to the round that a announces, if a asks this device. work computes the answer
// once, and sends the same bytes whenever the coordinator asks again.
func (c *Client) work(ctx context.Context, a *arrival) (next, error) {
	p := c.follower.Plan()
	if a.wants = c.asks(a, p); !a.wants {
		return idle(nil)
	}
	if a.Perturbations == 0 {
		return c.workSurvey(ctx, a)
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

// worked reports the result of the work on a round, and then lets the device report its state.
func worked(p Progress, err error) (next, error) {
	return next{Progress: p, tells: true, then: (*Client).reportState}, err
}

// idle is the next step if there is no more to do for a round. fault is the reason; nil: none.
func idle(fault error) (next, error) { return worked(waiting(fault), nil) }

// fails is the next step after an error in the work on a round.
func fails(ctx context.Context, err error) (next, error) {
	return worked(waiting(err), ends(ctx, err))
}

// asks says whether an announcement asks this device. In a run with surveys or groups, asks also
// reads the survey or this device's group from the announcement.
func (c *Client) asks(a *arrival, p *plan.Plan) (asks bool) {
	switch {
	case a.Perturbations == 0: // not a round
		a.Survey = survey.Asked(a.Rest)
	case grouped(p):
		a.Group, asks = grouping.Of(&a.Announcement, c.member.slot)
		return asks
	}
	return a.Cohort.Has(p.Run, c.follower.Replica().Draw(a.N), a.Attempt, c.member.slot, c.cfg.ID)
}

// sendAgain sends the reply that this device promised, if the coordinator lacks it. kept is false
// if there is no such reply.
func (c *Client) sendAgain(ctx context.Context, a *arrival) (fault error, kept bool, err error) {
	repeats := c.member.repeats(a)
	frame := c.outbox.Frame(&a.Ask, c.follower.Replica().Hash().Tip())
	if frame == nil {
		return nil, false, nil
	}
	if a.amid {
		return nil, true, nil // the coordinator sent a before it had this device's reply
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

// abstains says whether this device computes no answer to a round now. why is the reason if the
// Recorder should get one.
func (c *Client) abstains(
	ctx context.Context, a *arrival, closes time.Time,
) (why error, abstains bool) {
	if c.addsNoise() {
		if why := c.withheld(a); why != nil {
			return why, true
		}
	}
	return nil, c.backoff.Lasts() && c.backsOff(ctx, a.N, closes)
}

// A computation is what the app computes for an announcement, and how the device sends the result.
type computation struct {
	closes time.Time // when the device gives up the computation
	calls  probe.Calls
	run    func(context.Context) (probe.Result, error)
	send   sender
}

// A sender completes, stores and sends the reply with a result.
type sender func(context.Context, *working, *wire.Reply, *probe.Result) (Progress, error)

// computing reports that the device works, and then computes. The report includes fault.
func computing(a *arrival, fault error, job computation) (next, error) {
	p := Progress{State: Working, Err: fault}
	return telling(p, func(c *Client, ctx context.Context) (next, error) {
		round := c.working(ctx, a, job.closes, nil)
		defer round.end()
		return worked(c.compute(ctx, round, &job))
	})
}

// compute lets the app compute and sends the result. compute declines the round if the computation
// fails.
func (c *Client) compute(
	ctx context.Context, round *working, job *computation,
) (Progress, error) {
	weight, result, fault := c.result(round, round.a.N, job)
	switch {
	case ctx.Err() != nil:
		return Progress{}, context.Cause(ctx)
	case round.superseded.Load(): // no coordinator waits for a reply
		return waiting(errSuperseded), nil
	case fault != nil:
		return c.decline(ctx, round.a, fault)
	}
	return job.send(ctx, round, &wire.Reply{
		Kind: wire.Contribution, N: round.a.N, Tip: c.follower.Replica().Hash().Tip(),
		Weight: weight, Loss: float32(result.Loss),
	}, &result)
}

// result lets the app compute for record n, if the app can finish in time.
func (c *Client) result(
	ctx context.Context, n uint64, job *computation,
) (weight uint32, result probe.Result, err error) {
	if err := c.ready(ctx, n, job.calls, job.closes); err != nil {
		return 0, result, err
	}
	if weight, err = c.prober.Weight(ctx, c.follower.Plan()); err != nil {
		return 0, result, err
	}
	result, err = job.run(ctx)
	return weight, result, err
}

// send publishes a reply. Being offline is no error.
func (c *Client) send(ctx context.Context, frame []byte) error {
	_, err := c.link.Publish(ctx, c.follower.Plan().Shards, frame)
	return err
}

// A working is the context of the work on one announcement. The context ends with the context of
// Run, or as soon as the contribution no longer counts. Without Plan.Late, that is when the round
// closes or the coordinator announces a later round. With Plan.Late, that is some deadlines or
// records later.
type working struct {
	context.Context
	a          *arrival
	late       uint64      // number of later records for which the contribution still counts
	superseded atomic.Bool // ended by a later round
	cancel     context.CancelFunc
	unwatch    func()
	masks      *secagg.Session // the steps of secure aggregation; nil: no masks
}

func (c *Client) working(
	ctx context.Context, a *arrival, closes time.Time, masks *secagg.Session,
) *working {
	w := &working{a: a, late: uint64(c.follower.Plan().Late), masks: masks}
	w.Context, w.cancel = context.WithDeadlineCause(ctx, closes, errDeadline)
	w.unwatch = c.inbox.watched(w.see)
	return w
}

// see ends the work if the coordinator announced a later round. If a new announcement is for the
// same record, the reply under way answers it, too. Any announcement of another attempt ends the
// steps of secure aggregation. The device can use its computed contribution for the other attempt.
func (w *working) see(later *arrival) {
	if w.masks != nil && !w.a.same(later) {
		w.masks.Supersede()
	}
	later.amid = later.N == w.a.N
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

// possible says whether a round fits the plan. With transport=dense the device does not send
// scalars, so there may be more scalars than fit into a reply.
func possible(a *arrival, p *plan.Plan) error {
	many := uint64(p.Steps)*uint64(a.Perturbations) > plan.MaxScalars && !p.SendsVectors()
	still := a.StepSize == 0 && p.ServerRule == plan.ServerNormalized // x stays, m changes
	if many || !(a.StepSize > 0 || still) {
		return fmt.Errorf("%w: %d local steps, %d perturbations, step size %v",
			errUnusable, p.Steps, a.Perturbations, a.StepSize)
	}
	return nil
}
