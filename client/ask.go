package client

import (
	"math"

	"github.com/zofl/zofl/client/replica"
)

// at returns the loss at x + mu z[k,p], which is point i of the step; mu = 0 is x
// itself.
func (e *estimation) at(i int, mu float32, k, p int) (f float64, err error) {
	switch {
	case e.c.batched != nil:
		f = e.losses[i]
	case e.c.streams != nil:
		f, err = e.streamed(mu, k, p)
	default:
		f, err = e.flat(mu, k, p)
	}
	if err != nil {
		return 0, err
	}
	return f, finite(f, k, p)
}

// streamed asks for the loss at a point that the app reads.
func (e *estimation) streamed(mu float32, k, p int) (f float64, err error) {
	point := e.c.est.source.point(e.c.replica, e.x, mu, e.n, k, p)
	if err := e.enter(k, p, 1); err != nil {
		return 0, err
	}
	f, err = e.c.streams.LossAt(e.ctx, point, e.batch)
	return f, e.leave(err)
}

// flat asks for the loss at a vector.
func (e *estimation) flat(mu float32, k, p int) (f float64, err error) {
	probe := e.c.flat()
	e.c.replica.Probe(probe, e.x, 0, mu, e.n, k, p)
	if err := e.enter(k, p, 1); err != nil {
		return 0, err
	}
	f, err = e.c.cfg.Objective.Loss(e.ctx, probe, e.batch)
	return f, e.leave(err)
}

// all asks for the losses at all points of local step k.
func (e *estimation) all(k int, forward bool) error {
	step := replica.Points{X: e.x, Mu: e.plan.Mu, Central: !forward}
	points := e.c.est.source.all(e.c.replica, step, e.n, k, e.p)
	losses := e.c.est.losses[:0]
	for range points.Len() {
		losses = append(losses, math.NaN())
	}
	e.c.est.losses, e.losses = losses, losses
	if err := e.enter(k, 0, points.Len()); err != nil {
		return err
	}
	return e.leave(e.c.batched.LossesAt(e.ctx, points, e.batch, losses))
}

// flat returns the vector that a flat objective or an evaluator sees.
func (c *Client) flat() []float32 {
	if c.est.probe == nil {
		c.est.probe = make([]float32, c.dim)
	}
	return c.est.probe
}
