package client

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/zofl/zofl/wire"
)

var (
	errNotFinite = errors.New("the loss is not finite")
	errTooLarge  = errors.New("a scalar is above the plan's max_scalar")
)

// An estimator keeps what outlives a round: buffers and how long queries take.
type estimator struct {
	probe   []float32 // flat: the vector that the app sees
	x, m    []float32 // K > 1: the local iterate and its momentum
	scalars []float32
	queries uint64
	pace    time.Duration // of one query, smoothed
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

// gaveUp notes a query that takes longer than d.
func (e *estimator) gaveUp(d time.Duration) { e.pace = max(e.pace, d) }

// An estimation is one device's part of one round: DeComFL's Algorithm 4,
// lines 13-25 (Algorithm 2 is its case P = 1).
type estimation struct {
	c       *Client
	n       uint64
	plan    *wire.Plan
	p       int       // P
	eta     float32   // of the round
	x, m    []float32 // the iterate: the replica's own for K = 1
	scalars []float32 // g[k*P+p]
	loss    float64   // mean of the losses of step 0
	point   *Point    // of the call under way
}

func (c *Client) estimation(a *arrival, plan *wire.Plan) *estimation {
	e := &estimation{
		c: c, n: a.N, plan: plan, p: int(a.Perturbations), eta: a.Step,
		x: c.replica.Params(), m: c.replica.Momentum(),
	}
	est := &c.est
	if plan.Steps > 1 {
		est.x = append(est.x[:0], e.x...)
		est.m = append(est.m[:0], e.m...)
		e.x, e.m = est.x, est.m
	}
	if c.streams == nil && est.probe == nil {
		est.probe = make([]float32, len(e.x))
	}
	if need := int(plan.Steps) * e.p; cap(est.scalars) < need {
		est.scalars = make([]float32, need)
	}
	e.scalars = est.scalars[:int(plan.Steps)*e.p]
	return e
}

// release takes the point from an app that may still read it: a goroutine of
// the app that kept it, or a call that was given up. After it nothing but Run
// reads the iterate.
func (e *estimation) release() {
	if e.point != nil {
		e.point.revoke()
		e.point = nil
	}
}

// run estimates the scalars of every local step, moving the local iterate
// between them. The canonical state is never touched.
func (e *estimation) run(ctx context.Context) error {
	for k := range int(e.plan.Steps) {
		g := e.scalars[k*e.p : (k+1)*e.p]
		batch := Batch{
			N: e.n, Step: k, Size: int(e.plan.Batch),
			Seed: wire.BatchSeed(e.plan.Run, e.c.cfg.ID, e.n, uint32(k)),
		}
		if err := e.step(ctx, k, g, batch); err != nil {
			return err
		}
		if k+1 < int(e.plan.Steps) {
			e.c.replica.Advance(e.x, e.m, e.n, k, g, e.eta)
		}
	}
	return nil
}

// step estimates g[p] of local step k, all on one minibatch.
func (e *estimation) step(ctx context.Context, k int, g []float32, batch Batch) error {
	base := 0.0
	if e.plan.Difference == wire.Forward {
		f, err := e.query(ctx, 0, k, 0, batch)
		if err != nil {
			return err
		}
		base = f
	}
	sum := 0.0
	for p := range g {
		d, mean, err := e.difference(ctx, base, k, p, batch)
		if err != nil {
			return err
		}
		if g[p] = float32(d); !(abs(g[p]) <= e.plan.MaxScalar) {
			return fmt.Errorf("%w: |%v| > %v at step %d, perturbation %d",
				errTooLarge, g[p], e.plan.MaxScalar, k, p)
		}
		sum += mean
	}
	if k == 0 {
		e.loss = sum / float64(len(g))
	}
	return nil
}

// difference returns the estimate of the derivative along z[k,p] and the loss
// near x: forward (f(x+mu z) - base)/mu and base, central
// (f(x+mu z) - f(x-mu z))/(2 mu) and the mean of the two.
func (e *estimation) difference(ctx context.Context, base float64, k, p int, batch Batch) (d, mean float64, err error) {
	mu := float64(e.plan.Mu)
	plus, err := e.query(ctx, e.plan.Mu, k, p, batch)
	if err != nil {
		return 0, 0, err
	}
	if e.plan.Difference == wire.Forward {
		return (plus - base) / mu, base, nil
	}
	minus, err := e.query(ctx, -e.plan.Mu, k, p, batch)
	if err != nil {
		return 0, 0, err
	}
	return (plus - minus) / (2 * mu), (plus + minus) / 2, nil
}

// query returns the loss at x + mu z[k,p]; mu = 0 is x itself.
func (e *estimation) query(ctx context.Context, mu float32, k, p int, batch Batch) (float64, error) {
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	began := time.Now()
	f, err := call(ctx, &e.c.calls, e.callback(ctx, mu, k, p, batch))
	e.release()
	switch {
	case ctx.Err() != nil:
		e.c.est.gaveUp(time.Since(began))
		return 0, context.Cause(ctx)
	case err != nil:
		return 0, fmt.Errorf("loss at step %d, perturbation %d: %w", k, p, err)
	}
	e.c.est.took(time.Since(began))
	if !(math.Abs(f) <= math.MaxFloat32) { // replies carry it as a float32
		return 0, fmt.Errorf("%w: %v at step %d, perturbation %d", errNotFinite, f, k, p)
	}
	return f, nil
}

// callback prepares the parameters and returns the app's function on them.
func (e *estimation) callback(ctx context.Context, mu float32, k, p int, batch Batch) func() (float64, error) {
	if e.c.streams == nil {
		probe := e.c.est.probe
		e.read(probe, 0, mu, k, p)
		return func() (float64, error) { return e.c.cfg.Objective.Loss(ctx, probe, batch) }
	}
	point := &Point{dim: len(e.x), read: func(dst []float32, off int) { e.read(dst, off, mu, k, p) }}
	e.point = point
	return func() (float64, error) { return e.c.streams.LossAt(ctx, point, batch) }
}

// read writes elements off, off+1, ... of x + mu z[k,p] to dst.
func (e *estimation) read(dst []float32, off int, mu float32, k, p int) {
	if mu == 0 {
		copy(dst, e.x[off:])
		return
	}
	e.c.replica.Probe(dst, e.x, off, mu, e.n, k, p)
}

func abs(v float32) float32 {
	if v < 0 {
		return -v
	}
	return v
}
