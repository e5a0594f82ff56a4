package engine

import (
	"github.com/zofl/zofl/coordinator/internal/gather"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/survey"
)

// controlOf reads a contribution's control variate into c.control and returns its record, 0 if
// there is none. fault is the counter of what is wrong with it.
func (c *Core) controlOf(r *wire.Reply) (n uint64, fault *uint64) {
	if c.Plan.Control == wire.NoControl || c.round.phase == 1 || c.round.survey != survey.None {
		return 0, nil
	}
	wrong := &c.counters.WrongControl
	v, ok := wire.ControlVariate{}, false
	if len(r.Rest) > 0 {
		v, ok = r.Control()
	}
	if !ok {
		if c.round.phase == 2 {
			return 0, wrong
		}
		return 0, nil // the device has never contributed
	}
	precision := c.Plan.Precision
	want, ok := c.controlScalars(v.N)
	if !ok || precision.Len(v.Scalars) != want {
		return 0, wrong
	}
	largest := gather.Read(&c.control, precision, v.Scalars, 1, want)
	if !(largest <= c.Plan.MaxScalar) {
		return 0, wrong // a NaN compares false
	}
	if !c.controls.Fits(v.N, len(v.Scalars), &c.Plan, c.round.scalars) {
		return 0, &c.counters.Overflow
	}
	return v.N, nil
}

// controlScalars returns how many scalars a control variate along record n has; ok is false if none
// can be along that record.
func (c *Core) controlScalars(n uint64) (scalars int, ok bool) {
	if c.round.phase == 2 {
		return int(c.Point.Perturbations), n == c.Point.N
	}
	perturbations, ok := c.Round(n)
	return int(c.Plan.Steps) * int(perturbations), ok
}
