package client

import (
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
	losses  []float64  // batched: of a step's points
	source  source     // streaming, batched: what the app reads
	last    estimation // the one under way, or the last
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

// gaveUp notes a call of so many queries that takes longer than d: of many as if it
// took twice as long, which is not what the next round has time for.
func (e *estimator) gaveUp(d time.Duration, queries int) {
	e.pace = max(e.pace, 2*d/time.Duration(1+queries))
}

// An estimation is one device's part of one round: DeComFL's Algorithm 4,
// lines 13-25 (Algorithm 2 is its case P = 1).
type estimation struct {
	query   // how the app is asked
	n       uint64
	plan    *wire.Plan
	p       int       // P
	eta     float32   // of the round
	m       []float32 // the iterate's momentum
	scalars []float32 // g[k*P+p]
	losses  []float64 // batched: of the points of the step under way
	loss    float64   // mean of the losses of step 0
	batch   Batch     // of the step under way
}

// estimation returns that of a round. There is one at a time, and no job may be
// pending.
func (c *Client) estimation(a *arrival, plan *wire.Plan) *estimation {
	est := &c.est
	e := &est.last
	e.prepare(c)
	e.n, e.plan, e.p, e.eta, e.loss = a.N, plan, int(a.Perturbations), a.Step, 0
	e.x, e.m = c.replica.Params(), c.replica.Momentum()
	if plan.Steps > 1 {
		est.x = append(est.x[:0], e.x...)
		est.m = append(est.m[:0], e.m...)
		e.x, e.m = est.x, est.m
	}
	need := int(plan.Steps) * e.p
	if cap(est.scalars) < need {
		est.scalars = make([]float32, need)
	}
	e.scalars = est.scalars[:need]
	if e.work == nil {
		e.work = e.steps
	}
	return e
}

// steps estimates the scalars of every local step, moving the local iterate
// between them. The canonical state is never touched.
func (e *estimation) steps() error {
	for k := range int(e.plan.Steps) {
		g := e.scalars[k*e.p : (k+1)*e.p]
		e.batch = Batch{
			N: e.n, Step: k, Size: int(e.plan.Batch),
			Seed: wire.BatchSeed(e.plan.Run, e.c.cfg.ID, e.n, uint32(k)),
		}
		if err := e.step(k, g); err != nil {
			return err
		}
		if k+1 < int(e.plan.Steps) {
			e.c.replica.Advance(e.x, e.m, e.n, k, g, e.eta)
		}
	}
	return nil
}

// step estimates g[p] of local step k, all on one minibatch.
func (e *estimation) step(k int, g []float32) error {
	e.began = time.Now()
	base, err := e.start(k)
	if err != nil {
		return err
	}
	sum := 0.0
	for p := range g {
		d, mean, err := e.difference(base, k, p)
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

// start returns the loss that a step's forward differences start from; of a batched
// objective it asks for all losses of the step.
func (e *estimation) start(k int) (base float64, err error) {
	forward := e.plan.Difference == wire.Forward
	if e.c.batched != nil {
		if err := e.all(k, forward); err != nil {
			return 0, err
		}
	}
	if !forward {
		return 0, nil
	}
	return e.at(0, 0, k, 0)
}

// difference returns the estimate of the derivative along z[k,p] and the loss
// near x: forward (f(x+mu z) - base)/mu and base, central
// (f(x+mu z) - f(x-mu z))/(2 mu) and the mean of the two.
func (e *estimation) difference(base float64, k, p int) (d, mean float64, err error) {
	step := e.plan.Mu
	mu := float64(step)
	if e.plan.Difference == wire.Forward {
		f, err := e.at(1+p, step, k, p)
		return (f - base) / mu, base, err
	}
	plus, err := e.at(2*p, step, k, p)
	if err != nil {
		return 0, 0, err
	}
	minus, err := e.at(2*p+1, -step, k, p)
	return (plus - minus) / (2 * mu), (plus + minus) / 2, err
}

// finite says whether a loss can be one: replies carry it as a float32.
func finite(f float64, k, p int) error {
	if !(math.Abs(f) <= math.MaxFloat32) {
		return fmt.Errorf("%w: %v at step %d, perturbation %d", errNotFinite, f, k, p)
	}
	return nil
}

func abs(v float32) float32 {
	if v < 0 {
		return -v
	}
	return v
}
