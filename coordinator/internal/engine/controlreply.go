package engine

import (
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/survey"
)

// controlOf reads a contribution's control variate into the chain's Item. controlOf returns the
// variate's record, or 0 if there is no variate. fault is the counter of the fault that controlOf
// found.
func (c *Core) controlOf(r *wire.Reply) (n uint64, fault *uint64) {
	if !c.Plan.SendsControl() || c.round.phase == 1 || c.round.survey != survey.None {
		return 0, nil
	}
	v, fault := c.desk().Control(&c.chain.Item.Variate, r, c.round.phase, c.controlScalars)
	if fault == nil && v.N > 0 && !c.chain.Fits(v.N, len(v.Scalars), c.round.scalars) {
		fault = &c.counters.Overflow
	}
	return v.N, fault
}

// controlScalars returns how many scalars a control variate along record n has; ok is false if no
// variate can lie along that record.
func (c *Core) controlScalars(n uint64) (scalars int, ok bool) {
	if c.round.phase == 2 {
		return int(c.Point.Perturbations), n == c.Point.N
	}
	perturbations, ok := c.Round(n)
	return int(c.Plan.Steps) * int(perturbations), ok
}
