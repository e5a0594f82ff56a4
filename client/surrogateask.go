package client

import "math"

// learn asks for the losses at vectors and adds them to the points, as far as they are
// finite. They are queries first, first+1, ... of the step. It returns the loss at the
// first.
func (e *estimation) learn(first int, xs [][]float32) (loss float64, err error) {
	if e.c.batched != nil {
		if err := e.allAt(first, xs); err != nil {
			return 0, err
		}
	}
	for i, x := range xs {
		y, err := e.lossAt(i, first+i, x)
		if err != nil {
			return 0, err
		}
		e.c.est.dense.trajectory.add(x, y)
		if i == 0 {
			loss = y
		}
	}
	return loss, e.cancelled()
}

// lossAt returns the loss at a vector, query p of the step; of a batched objective it is
// known already, as number i.
func (e *estimation) lossAt(i, p int, x []float32) (f float64, err error) {
	switch {
	case e.c.batched != nil:
		f = e.losses[i]
	case e.c.streams != nil:
		point := e.c.est.source.vector(x)
		if err := e.enter(e.place.k, p, 1); err != nil {
			return 0, err
		}
		f, err = e.c.streams.LossAt(e.ctx, point, e.batch)
		err = e.leave(err)
	default:
		probe := e.c.flat()
		copy(probe, x)
		if err := e.enter(e.place.k, p, 1); err != nil {
			return 0, err
		}
		f, err = e.c.loss.Loss(e.ctx, probe, e.batch)
		err = e.leave(err)
	}
	if err != nil {
		return 0, err
	}
	return f, e.finite(f, e.place.k, p)
}

// allAt asks for the losses at vectors with one call.
func (e *estimation) allAt(first int, xs [][]float32) error {
	points := e.c.est.source.vectors(xs)
	losses := e.c.est.losses[:0]
	for range xs {
		losses = append(losses, math.NaN())
	}
	e.c.est.losses, e.losses = losses, losses
	if err := e.enter(e.place.k, first, len(xs)); err != nil {
		return err
	}
	return e.leave(e.c.batched.LossesAt(e.ctx, points, e.batch, losses))
}
