package probe

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// errNotFinite says that the app returned NaN, an infinity, or a loss that is infinite in float32.
var errNotFinite = errors.New("the loss is not finite")

// An estimation is a device's work in one round: lines 13-25 of DeComFL's Algorithm 4, of which
// Algorithm 2 is the case P = 1. Unlike DeComFL, a plan may give each device directions of its own,
// or correct the local steps (FZooS (6)).
type estimation struct {
	query       // calls the app
	Task        // what the round asks for
	replica     *replica.Replica
	plan        *plan.Plan
	measurement measurement
	local       replica.Local   // the iterate; for K = 1 it shares the replica's parameters
	scalars     []float32       // g[k*P+p], as other devices read them
	sent        wire.Scalars    // the same scalars, encoded
	block       wire.Scalars    // of the present step
	vector      []float32       // with transport=dense: the vector to send
	losses      []float64       // batched: at the points of the present step
	points      int             // that a batched objective would get in the present call
	loss        float64         // mean of the losses of step 0, with svrg of step 1
	heading     float32         // with step_auto: the slope along the momentum
	beside      beside          // of a survey
	place       place           // of the present step's directions
	size        int             // of minibatches, 0: all of the data
	batch       objective.Batch // of the present step
}

// A Result is the result of a task. The slices of a Result are valid until the next task.
type Result struct {
	Scalars []float32           // g[k*P+p] as other devices read them, or a survey's values
	Sent    wire.Scalars        // g[k*P+p], a block a step; empty with a vector
	Vector  []float32           // with transport=dense: the vector to send
	Loss    float64             // mean of the losses of the first step that asks for losses
	Control wire.ControlVariate // sent with the scalars; N = 0: none
	Slope   float32             // with step_auto: of the loss along the momentum
}

// Run does a task on the replica's model, until ctx ends. Run reads the replica, so nothing may
// change the replica before Run returns. The error is an error of this package, the cause of ctx,
// or a fault of the app's loss.
func (p *Prober) Run(ctx context.Context, r *replica.Replica, t Task) (Result, error) {
	return p.measure(ctx, r, &t, transportOf(r.Plan()))
}

// measure does a task by measurement m.
func (p *Prober) measure(
	ctx context.Context, r *replica.Replica, t *Task, m measurement,
) (Result, error) {
	size, err := p.batchSize(ctx, r.Plan(), t)
	if err != nil {
		return Result{}, err
	}
	e := p.estimation(r, t, m)
	e.size = size
	if err := e.run(ctx); err != nil {
		return Result{}, err
	}
	m.finish(e)
	return Result{e.scalars, e.sent, e.vector, e.loss, e.Control, e.heading}, nil
}

// estimation prepares the estimation of a task. There is only one estimation at a time, and no call
// of the app may be pending.
func (p *Prober) estimation(r *replica.Replica, t *Task, m measurement) *estimation {
	e := &p.last
	e.prepare(p)
	e.Task, e.replica, e.plan, e.loss, e.scalars, e.vector = *t, r, r.Plan(), 0, nil, nil
	e.sent = e.sent[:0]
	e.local = replica.Local{X: r.Params(), Source: t.Source}
	if e.work == nil {
		e.work = e.estimate
	}
	e.measurement = m
	m.prepare(e)
	return e
}

// estimate computes the scalars that the device sends. estimate never changes the replica.
func (e *estimation) estimate() error { return e.measurement.estimate(e) }

// scalarsToSend computes the scalars of every local step, and moves the local iterate between
// steps. scalarsToSend never changes the replica.
func (e *estimation) scalarsToSend() error {
	if e.plan.Control != plan.NoControl {
		if err := e.correct(); err != nil {
			return err
		}
	}
	for k := range e.Steps {
		g := e.scalars[k*e.Perturbations : (k+1)*e.Perturbations]
		if err := e.step(e.N, k, g); err != nil {
			return err
		}
		e.sent = append(e.sent, e.block...)
		if k+1 < e.Steps {
			e.replica.Advance(&e.local, e.N, k, g, e.StepSize)
		}
	}
	if e.plan.StepAuto > 0 {
		e.heading = e.replica.Slope(e.N, e.scalars, e.Source)
	}
	return nil
}

// correct computes the correction that the device adds to its estimates, c - c_i. With scaffold-1,
// a device that missed phase 1 computes the scalars of phase 1 now: neither x nor the minibatch has
// changed since phase 1.
func (e *estimation) correct() error {
	if e.Missed.N > 0 {
		b := &e.prober.buffers
		b.firstPhase = room(b.firstPhase, e.Missed.Perturbations)
		if err := e.step(e.Missed.N, 0, b.firstPhase); err != nil {
			return fmt.Errorf("first phase, record %d: %w", e.Missed.N, err)
		}
		e.Control = wire.ControlVariate{N: e.Missed.N, Scalars: slices.Clone(e.block)}
	}
	if len(e.local.Correction) == 0 {
		return nil // K = 1: no local step follows the scalars
	}
	return e.replica.Correct(e.local.Correction, e.Control)
}

// within returns a scalar. If the plan limits scalars for privacy, within clips d to the plan's
// MaxScalar: if a device declined because of a large scalar, the decline would reveal the size. The
// limit is a little below MaxScalar, because half-precision rounding may increase the scalar.
func (e *estimation) within(d float64) float32 {
	if e.plan.DPClip > 0 {
		most := (1 - 1.0/1024) * float64(e.plan.MaxScalar)
		d = min(max(d, -most), most)
	}
	return float32(d)
}

// minibatch returns the description of the minibatch of local step k of record n.
func (e *estimation) minibatch(n uint64, k int) objective.Batch {
	return objective.Batch{
		N: n, Step: k, Size: e.size,
		Seed: plan.BatchSeed(e.plan.Run, e.prober.cfg.ID, n, uint32(k)),
	}
}

// slopes sets g[p] to the slope along direction p of local step k of record n at the local iterate.
// All slopes use one minibatch. slopes returns the mean of the losses near the iterate.
func (e *estimation) slopes(n uint64, k int, g []float32) (loss float64, err error) {
	e.place = place{n, k, e.Source}
	e.batch = e.minibatch(n, k)
	e.began = time.Now()
	base, err := e.start(len(g))
	if err != nil {
		return 0, err
	}
	sum := 0.0
	for p := range g {
		d, mean, err := e.difference(base, p)
		if err != nil {
			return 0, err
		}
		g[p] = e.within(d)
		sum += mean
	}
	return sum / float64(len(g)), nil
}

// step estimates g[p] of local step k of record n, and encodes the scalars in e.block.
func (e *estimation) step(n uint64, k int, g []float32) error {
	estimate, first := e.slopes, 0
	if e.reduces() {
		estimate, first = e.changes, 1
	}
	loss, err := estimate(n, k, g)
	if err != nil {
		return err
	}
	// The local iterate must move by the scalars as other devices will decode them. step encodes the
	// scalars only once: if scalars share a scale, decoding and encoding them again gives other bytes.
	e.block = e.plan.Precision.Append(e.block[:0], g...)
	e.plan.Precision.Decode(g, e.block, 0)
	for p, v := range g {
		if !(abs(v) <= e.plan.MaxScalar) {
			return tooLarge(v, e.plan, fmt.Sprintf("at step %d, perturbation %d", k, p))
		}
	}
	if k == first {
		e.loss = loss
	}
	return nil
}

// tooLarge returns an [ErrTooLarge] with the likely causes, the most likely one first. Where a loss
// jumps, a shorter mu makes the scalar larger.
func tooLarge(v float32, p *plan.Plan, where string) error {
	return fmt.Errorf("%w: |%v| > %v %s: if the loss is in whole numbers or steps, give "+
		"`zofl change mu=auto`, or a longer mu; if it draws samples, draw them by the minibatch's seed, "+
		"the same for all losses of a step; if it is steep, divide it by a constant", ErrTooLarge, v,
		p.MaxScalar, where)
}
