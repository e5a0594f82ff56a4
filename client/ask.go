package client

import (
	"math"

	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/wire"
)

// at returns the loss at x + mu z[p], which is point i of the step; mu = 0 is x
// itself.
func (e *estimation) at(i int, mu float32, p int) (f float64, err error) {
	switch {
	case e.c.batched != nil:
		f = e.losses[i]
	case e.c.streams != nil:
		f, err = e.streamed(mu, p)
	default:
		f, err = e.flat(mu, p)
	}
	if err != nil {
		return 0, err
	}
	return f, e.finite(f, e.place.k, p)
}

// streamed asks for the loss at a point that the app reads.
func (e *estimation) streamed(mu float32, p int) (f float64, err error) {
	point := e.c.est.source.point(e.c.replica, e.local.X, mu, e.place, p)
	if err := e.enter(e.place.k, p, 1); err != nil {
		return 0, err
	}
	f, err = e.c.streams.LossAt(e.ctx, point, e.batch)
	return f, e.leave(err)
}

// flat asks for the loss at a vector.
func (e *estimation) flat(mu float32, p int) (f float64, err error) {
	probe := e.c.flat()
	z := e.directions(p, p+1)
	e.c.replica.Perturb(probe, e.local.X, 0, mu, &z[0])
	if err := e.enter(e.place.k, p, 1); err != nil {
		return 0, err
	}
	f, err = e.c.loss.Loss(e.ctx, probe, e.batch)
	return f, e.leave(err)
}

// directions returns those of some perturbations of the step, until it is called
// again.
func (e *estimation) directions(from, to int) []replica.Direction {
	est := &e.c.est
	est.z = e.c.replica.Directions(est.z[:0], e.place.n, e.place.k, from, to, e.place.source)
	return est.z
}

// measuredAtOnce directions have their lengths measured together.
const measuredAtOnce = 64

// measure has the workers measure the lengths of a step's directions, where these
// are on a sphere: one by one each would keep a single one busy.
func (e *estimation) measure(perturbations int) {
	if e.plan.Distribution != wire.Sphere {
		return
	}
	for p := 0; p < perturbations; p += measuredAtOnce {
		e.directions(p, min(p+measuredAtOnce, perturbations))
	}
}

// all asks for the losses at all points of a step.
func (e *estimation) all(perturbations int, forward bool) error {
	step := replica.Points{X: e.local.X, Mu: e.plan.Mu, Central: !forward}
	points := e.c.est.source.all(e.c.replica, step, e.place, perturbations)
	losses := e.c.est.losses[:0]
	for range points.Len() {
		losses = append(losses, math.NaN())
	}
	e.c.est.losses, e.losses = losses, losses
	if err := e.enter(e.place.k, 0, points.Len()); err != nil {
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
