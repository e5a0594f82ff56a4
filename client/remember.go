package client

import (
	"errors"

	"github.com/zofl/zofl/wire"
)

// What a device says once that contributes to a run under way without what it found in
// earlier rounds: it came late, or lost its store.
var (
	errNoTrajectory = errors.New("trajectory lost, or none yet in a run under way: contributing from new points")
	errNoVariate    = errors.New("control variate lost, or none yet in a run under way: contributing without a correction")
)

// remember readies what a dense round needs of earlier ones: of this process, or of the
// store. What is of another plan is forgotten, as its log was.
func (c *Client) remember(plan *wire.Plan) {
	w, of := &c.est.dense, wire.HashRecord(c.replica.First())
	if w.of != of {
		*w = denseWorker{vector: w.vector, stepper: w.stepper, of: of}
		w.fault = c.openOwn(plan)
	}
	if w.fault == nil && !w.told {
		w.fault = c.tellLost(plan)
	}
}

// openOwn takes what an earlier process kept.
func (c *Client) openOwn(plan *wire.Plan) error {
	surrogate := plan.Estimator == wire.Surrogate
	if surrogate {
		c.est.dense.trajectory = newTrajectory(c, plan)
	}
	switch {
	case !c.shelf.Keeps():
	case surrogate:
		return c.openTrajectory(plan)
	case plan.Control == wire.ScaffoldMean:
		return c.openControl(plan)
	}
	return nil
}

// tellLost says what a run that is under way would have this device know.
func (c *Client) tellLost(plan *wire.Plan) error {
	w, lost := &c.est.dense, error(nil)
	switch {
	case plan.Estimator == wire.Surrogate:
		if t := w.trajectory; t.process.Len() == 0 && len(t.recalled.y) == 0 && !allZero(c.replica.Weights()) {
			lost = errNoTrajectory
		}
	case plan.Control == wire.ScaffoldMean:
		if w.own.n == 0 && !allZero(c.replica.Control()) {
			lost = errNoVariate
		}
	}
	if w.told = true; lost == nil {
		return nil
	}
	c.cfg.Logger.Warn(lost.Error(), "record", c.replica.N()+1)
	return c.record(Progress{State: c.state, Err: lost})
}

func allZero(v []float32) bool {
	for _, a := range v {
		if a != 0 {
			return false
		}
	}
	return true
}
