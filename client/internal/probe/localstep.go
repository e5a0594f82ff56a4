package probe

import (
	"fmt"

	"github.com/zofl/zofl/client/internal/localrule"
	"github.com/zofl/zofl/plan"
)

// A localStepper holds the buffers of local steps with finite differences for transport=dense. The
// iterate itself is in the vector to send.
type localStepper struct {
	rule       localrule.Rule[float32]
	sides      []localrule.Side
	gradient   []float32
	correction []float32 // c - c_i, or with svrg c; empty: none
}

// localSteps makes the K local steps of a round. The vector to send begins with x_K. With
// scaffold-2, c_i follows x_K: the mean of the estimates.
//
//	for k := range K {
//		v = (1/P) sum of g z
//		c_i += v/K
//		v += (c - c_i of the last round) + prox (x - x_0) + decay x
//		x = clip(x - eta * rule(v))
//	}
//
// If the plan has boxes, x and v are in the boxes' coordinates.
func (e *estimation) localSteps() error {
	s, x, found := &e.prober.stepper, e.vector[:e.prober.dim], e.vector[e.prober.dim:]
	s.sides = localrule.Sides(s.sides[:0], e.plan)
	if err := e.setCorrection(); err != nil {
		return err
	}
	s.rule.Begin(e.plan.Rule, len(x))
	base := e.local.X
	copy(x, base)
	clear(found)
	e.local.X = x
	for k := range e.Steps {
		v, err := e.gradientAt(e.N, k)
		if err != nil {
			return err
		}
		if k == 0 && !e.reduces() {
			e.prober.watchZeros(e.prober.buffers.scalars)
		}
		for i := range found {
			found[i] += v[i] / float32(e.Steps)
		}
		for i, c := range s.correction {
			v[i] += c
		}
		localrule.Pull(v, x, base, e.plan, s.sides)
		s.rule.Move(x, v, e.plan, e.StepSize, s.sides)
	}
	return nil
}

// gradientAt estimates the gradient at the local iterate in local step k of record n.
func (e *estimation) gradientAt(n uint64, k int) ([]float32, error) {
	s := &e.prober.stepper
	g := room(e.prober.buffers.scalars, e.Perturbations)
	e.prober.buffers.scalars = g
	if err := e.step(n, k, g); err != nil {
		return nil, err
	}
	s.gradient = room(s.gradient, e.prober.dim)
	e.replica.Estimate(s.gradient, n, k, g, e.Source)
	return s.gradient, nil
}

// firstPoint does phase 1 of scaffold-1 and svrg: the vector is c_i, the estimate of the gradient
// at the round's first point.
func (e *estimation) firstPoint() error {
	v, err := e.gradientAt(e.N, 0)
	if err != nil {
		return err
	}
	copy(e.vector, v)
	return nil
}

// setCorrection computes the correction that the device adds to its estimates, c - c_i: FZooS (91)
// and (93). With svrg the correction is c, because the estimates already have c_i subtracted.
// Without control variates there is no correction. A device without c_i has no correction, because
// nothing would cancel c in the mean. With scaffold-2 a device has no correction, either, if c is 0
// after a rollback. With scaffold-1, a device that missed phase 1 computes the c_i of phase 1 now:
// neither x nor the minibatch has changed since phase 1.
func (e *estimation) setCorrection() error {
	s, own := &e.prober.stepper, &e.prober.memory.own
	s.correction = s.correction[:0]
	switch e.plan.Control {
	case plan.NoControl:
		return nil
	case plan.SVRG:
		s.correction = append(s.correction, e.replica.Control()...)
		return nil
	}
	if point, _ := e.replica.Pending(); e.plan.Control == plan.ScaffoldPoint && own.n != point {
		v, err := e.gradientAt(point, 0)
		if err != nil {
			return fmt.Errorf("first phase, record %d: %w", point, err)
		}
		own.put(point, v)
	}
	all := e.replica.Control()
	if own.n == 0 || e.plan.Control == plan.ScaffoldMean && allZero(all) {
		return nil
	}
	s.correction = room(s.correction, e.prober.dim)
	for i, c := range all {
		s.correction[i] = c - own.v[i]
	}
	return nil
}
