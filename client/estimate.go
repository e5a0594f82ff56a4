package client

import (
	"errors"
	"fmt"
	"time"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/wire"
)

var (
	errNotFinite = errors.New("the loss is not finite")
	errTooLarge  = errors.New("a scalar is above the plan's max_scalar")
)

// An estimator keeps what outlives a round: buffers and how long queries take.
type estimator struct {
	probe      []float32           // flat: the vector that the app sees
	x, m       []float32           // K > 1: the local iterate and its momentum
	correction []float32           // K > 1 with control variates: c - c_i
	z          []replica.Direction // a few of a step's
	scalars    []float32
	missed     []float32 // scaffold-1: what a device that had no part in phase 1 finds
	losses     []float64 // batched: of a step's points
	dense      denseWorker
	source     source     // streaming, batched: what the app reads
	last       estimation // the one under way, or the last
	queries    uint64
	pace       time.Duration // of one query, smoothed
}

// duration is how long queries take, as far as known; 0 if nothing is.
func (e *estimator) duration(queries uint64) time.Duration {
	return e.pace * time.Duration(queries)
}

// doubt halves the pace. It follows each round that was declined because of
// it, so that a device that was slow once tries again.
func (e *estimator) doubt() { e.pace /= 2 }

// took counts a query that took d.
func (e *estimator) took(d time.Duration) {
	e.queries++
	if e.pace == 0 {
		e.pace = d
	}
	e.pace += (d - e.pace) / 8
}

// gaveUp notes a call of so many queries that takes longer than d: of many as if it
// took twice as long, which is not what the next round has time for.
func (e *estimator) gaveUp(d time.Duration, queries int) {
	e.pace = max(e.pace, 2*d/time.Duration(1+queries))
}

// An estimation is one device's part of one round: DeComFL's Algorithm 4,
// lines 13-25 (Algorithm 2 is its case P = 1), with the device's own directions or a
// correction (FZooS (6)) where the plan has them.
type estimation struct {
	query   // how the app is asked
	task    // what the round asks for
	plan    *wire.Plan
	local   replica.Local   // the iterate: the replica's own for K = 1
	scalars []float32       // g[k*P+p], as they travel
	vector  []float32       // of dense transport: what is sent, until the next estimation
	losses  []float64       // batched: of the points of the step under way
	loss    float64         // mean of the losses of step 0
	place   place           // of the directions of the step under way
	batch   objective.Batch // of the step under way
}

// estimation returns that of a task. There is one at a time, and no job may be
// pending.
func (c *Client) estimation(t *task, plan *wire.Plan) *estimation {
	est := &c.est
	e := &est.last
	e.prepare(c)
	e.task, e.plan, e.loss, e.scalars, e.vector = *t, plan, 0, nil, nil
	e.local = replica.Local{X: c.replica.Params(), Source: t.source}
	if e.work == nil {
		e.work = e.estimate
	}
	if plan.Transport == wire.DenseVectors {
		c.remember(plan)
		return e
	}
	e.local.M = c.replica.Momentum()
	if t.steps > 1 {
		est.x = append(est.x[:0], e.local.X...)
		est.m = append(est.m[:0], e.local.M...)
		e.local.X, e.local.M = est.x, est.m
		if plan.Control != wire.NoControl {
			est.correction = room(est.correction, c.dim)
			e.local.Correction = est.correction
		}
	}
	est.scalars = room(est.scalars, t.steps*t.perturbations)
	e.scalars = est.scalars
	return e
}

// room returns n elements, in the memory of v if it has as many.
func room(v []float32, n int) []float32 {
	if cap(v) < n {
		return make([]float32, n)
	}
	return v[:n]
}

// estimate finds the scalars of every local step, moving the local iterate between
// them. The canonical state is never touched.
func (e *estimation) estimate() error {
	if e.plan.Transport == wire.DenseVectors {
		return e.denseVector()
	}
	if err := e.correct(); err != nil {
		return err
	}
	for k := range e.steps {
		g := e.scalars[k*e.perturbations : (k+1)*e.perturbations]
		if err := e.step(e.n, k, g); err != nil {
			return err
		}
		if k+1 < e.steps {
			e.c.replica.Advance(&e.local, e.n, k, g, e.eta)
		}
	}
	return nil
}

// correct sets what the device adds to its estimates, c - c_i. Of scaffold-1, a
// device that had no part in the first phase finds now what it would have found then:
// neither x nor the minibatch has changed.
func (e *estimation) correct() error {
	if e.missed.n > 0 {
		est := &e.c.est
		est.missed = room(est.missed, e.missed.perturbations)
		if err := e.step(e.missed.n, 0, est.missed); err != nil {
			return fmt.Errorf("first phase, record %d: %w", e.missed.n, err)
		}
		e.own = wire.ControlVariate{N: e.missed.n, Scalars: e.plan.Precision.Append(nil, est.missed...)}
	}
	if len(e.local.Correction) == 0 {
		return nil // the only step is the last
	}
	return e.c.replica.Correct(e.local.Correction, e.own)
}

// minibatch names that of local step k of record n.
func (e *estimation) minibatch(n uint64, k int) objective.Batch {
	return objective.Batch{
		N: n, Step: k, Size: int(e.plan.Batch),
		Seed: wire.BatchSeed(e.plan.Run, e.c.cfg.ID, n, uint32(k)),
	}
}

// step estimates g[p] of local step k of record n, all on one minibatch.
func (e *estimation) step(n uint64, k int, g []float32) error {
	e.place = place{n, k, e.source}
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
				errTooLarge, float32(d), e.plan.MaxScalar, k, p)
		}
		sum += mean
	}
	if k == 0 {
		e.loss = sum / float64(len(g))
	}
	return nil
}
