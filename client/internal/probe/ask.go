package probe

import (
	"math"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/plan"
)

// at returns the loss at x + mu z[p], point i of the step; for mu = 0 it is the loss at x.
func (e *estimation) at(i int, mu float32, p int) (f float64, err error) {
	if f, err = e.anyAt(i, mu, p); err != nil {
		return 0, err
	}
	return f, e.finite(f, e.place.k, p)
}

// anyAt is like at, but the loss need not be finite.
func (e *estimation) anyAt(i int, mu float32, p int) (f float64, err error) {
	switch pr := e.prober; {
	case pr.batched != nil:
		f = e.losses[i]
	case pr.streams != nil:
		f, err = e.askStream(pr.source.point(e.replica, e.local.X, mu, e.place, p), i, p)
	default:
		probe, z := pr.flat(), e.directions(p, p+1)
		e.replica.Perturb(probe, e.local.X, 0, mu, &z[0])
		f, err = e.askFlat(probe, p)
	}
	return f, err
}

// atVector returns the loss at a vector. The vector is query p of the step, and point i of the last
// call of a batched objective.
func (e *estimation) atVector(x []float32, i, p int) (f float64, err error) {
	if f, err = e.anyAtVector(x, i, p); err != nil {
		return 0, err
	}
	return f, e.finite(f, e.place.k, p)
}

// anyAtVector is like atVector, but the loss need not be finite.
func (e *estimation) anyAtVector(x []float32, i, p int) (f float64, err error) {
	switch pr := e.prober; {
	case pr.batched != nil:
		f = e.losses[i]
	case pr.streams != nil:
		f, err = e.askStream(pr.source.vector(x), i, p)
	default:
		probe := pr.flat()
		copy(probe, x)
		f, err = e.askFlat(probe, p)
	}
	return f, err
}

// askFlat calls a flat objective at a vector.
func (e *estimation) askFlat(x []float32, p int) (f float64, err error) {
	if err := e.enter(e.place.k, p, 1); err != nil {
		return 0, err
	}
	f, err = e.prober.loss.Loss(e.ctx, x, e.batch)
	return f, e.leave(err)
}

// askStream calls a streaming objective at point i of the step's points. A batched objective would
// get all these points together.
func (e *estimation) askStream(x *objective.Point, i, p int) (f float64, err error) {
	*x = x.Numbered(i, e.points)
	if err := e.enter(e.place.k, p, 1); err != nil {
		return 0, err
	}
	f, err = e.prober.streams.LossAt(e.ctx, x, e.batch)
	return f, e.leave(err)
}

// askAll calls a batched objective at points, which are queries p, p+1, ... of the step.
func (e *estimation) askAll(x *objective.Points, p int) error {
	losses := e.prober.buffers.losses[:0]
	for range x.Len() {
		losses = append(losses, math.NaN())
	}
	e.prober.buffers.losses, e.losses = losses, losses
	if err := e.enter(e.place.k, p, x.Len()); err != nil {
		return err
	}
	return e.leave(e.prober.batched.LossesAt(e.ctx, x, e.batch, losses))
}

// askStep calls a batched objective at all points of a step.
func (e *estimation) askStep(perturbations int) error {
	central := e.plan.Difference == plan.Central
	step := replica.Points{X: e.local.X, Mu: e.plan.Mu, Central: central}
	return e.askAll(e.prober.source.all(e.replica, step, e.place, 0, perturbations), 0)
}

// directions returns the directions of perturbations [from, to) of the step. The directions are
// valid until the next call of directions.
func (e *estimation) directions(from, to int) []replica.Direction {
	b := &e.prober.buffers
	b.z = e.replica.Directions(b.z[:0], e.place.n, e.place.k, from, to, e.place.source)
	return b.z
}

// lengthsAtOnce is how many directions' lengths computeLengths computes together.
const lengthsAtOnce = 64

// computeLengths computes the lengths of a step's directions if they are on a sphere. Many
// directions together keep all workers busy; a single direction keeps only one worker busy.
func (e *estimation) computeLengths(perturbations int) {
	if e.plan.Distribution != plan.Sphere {
		return
	}
	for p := 0; p < perturbations; p += lengthsAtOnce {
		e.directions(p, min(p+lengthsAtOnce, perturbations))
	}
}
