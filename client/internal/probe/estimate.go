package probe

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/wire"
)

var (
	errNotFinite = errors.New("the loss is not finite")
)

// An estimation is one device's part of one round: DeComFL's Algorithm 4,
// lines 13-25 (Algorithm 2 is its case P = 1), with the device's own directions or a
// correction (FZooS (6)) where the plan has them.
type estimation struct {
	query     // how the app is asked
	Task      // what the round asks for
	replica   *replica.Replica
	plan      *wire.Plan
	transport transport       // the plan's
	local     replica.Local   // the iterate: the replica's own for K = 1
	scalars   []float32       // g[k*P+p], as they travel
	vector    []float32       // of dense transport: what is sent, until the next estimation
	losses    []float64       // batched: of the points of the step under way
	loss      float64         // mean of the losses of step 0
	place     place           // of the directions of the step under way
	batch     objective.Batch // of the step under way
}

// A Result is what a task came to. Its slices are valid until the next task.
type Result struct {
	Scalars []float32           // g[k*P+p], as they travel; with transport=dense none
	Vector  []float32           // with transport=dense: what the device sends
	Loss    float64             // mean of the losses of step 0
	Control wire.ControlVariate // that goes with the scalars; N = 0: none
}

// Run does a task on the replica's model, until ctx ends. It leaves the replica as it is,
// but uses it: nobody may change the replica before Run returns. The error is one of this
// package, the cause of ctx, or says what the app's loss did.
func (p *Prober) Run(ctx context.Context, r *replica.Replica, t Task) (Result, error) {
	e := p.estimation(r, &t)
	if err := e.run(ctx); err != nil {
		return Result{}, err
	}
	e.transport.finish(e)
	return Result{e.scalars, e.vector, e.loss, e.Control}, nil
}

// estimation returns the estimation of a task. There is one at a time, and no job may be
// pending.
func (p *Prober) estimation(r *replica.Replica, t *Task) *estimation {
	e := &p.last
	e.prepare(p)
	e.Task, e.replica, e.plan, e.loss, e.scalars, e.vector = *t, r, r.Plan(), 0, nil, nil
	e.local = replica.Local{X: r.Params(), Source: t.Source}
	if e.work == nil {
		e.work = e.estimate
	}
	e.transport = transportOf(e.plan)
	e.transport.prepare(e)
	return e
}

// estimate computes what the device sends. The canonical state is never touched.
func (e *estimation) estimate() error { return e.transport.estimate(e) }

// scalarsToSend finds the scalars of every local step, moving the local iterate between
// them.
func (e *estimation) scalarsToSend() error {
	if err := e.correct(); err != nil {
		return err
	}
	for k := range e.Steps {
		g := e.scalars[k*e.Perturbations : (k+1)*e.Perturbations]
		if err := e.step(e.N, k, g); err != nil {
			return err
		}
		if k+1 < e.Steps {
			e.replica.Advance(&e.local, e.N, k, g, e.StepSize)
		}
	}
	return nil
}

// correct sets what the device adds to its estimates, c - c_i. Of scaffold-1, a
// device that had no part in the first phase finds now what it would have found then:
// neither x nor the minibatch has changed.
func (e *estimation) correct() error {
	if e.Missed.N > 0 {
		b := &e.prober.buffers
		b.firstPhase = room(b.firstPhase, e.Missed.Perturbations)
		if err := e.step(e.Missed.N, 0, b.firstPhase); err != nil {
			return fmt.Errorf("first phase, record %d: %w", e.Missed.N, err)
		}
		scalars := e.plan.Precision.Append(nil, b.firstPhase...)
		e.Control = wire.ControlVariate{N: e.Missed.N, Scalars: scalars}
	}
	if len(e.local.Correction) == 0 {
		return nil // the only step is the last
	}
	return e.replica.Correct(e.local.Correction, e.Control)
}

// minibatch names that of local step k of record n.
func (e *estimation) minibatch(n uint64, k int) objective.Batch {
	return objective.Batch{
		N: n, Step: k, Size: int(e.plan.Batch),
		Seed: wire.BatchSeed(e.plan.Run, e.prober.cfg.ID, n, uint32(k)),
	}
}

// step estimates g[p] of local step k of record n, all on one minibatch.
func (e *estimation) step(n uint64, k int, g []float32) error {
	e.place = place{n, k, e.Source}
	e.batch = e.minibatch(n, k)
	e.began = time.Now()
	base, err := e.start(len(g))
	if err != nil {
		return err
	}
	sum := 0.0
	for p := range g {
		d, mean, err := e.difference(base, p)
		if err != nil {
			return err
		}
		// What moves the local iterate is what the others will read.
		g[p] = e.plan.Precision.Round(float32(d))
		if !(abs(g[p]) <= e.plan.MaxScalar) {
			return fmt.Errorf("%w: |%v| > %v at step %d, perturbation %d",
				ErrTooLarge, float32(d), e.plan.MaxScalar, k, p)
		}
		sum += mean
	}
	if k == 0 {
		e.loss = sum / float64(len(g))
	}
	return nil
}
