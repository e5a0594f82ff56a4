package client

import (
	"io"

	"github.com/zofl/zofl/client/internal/probe"
	"github.com/zofl/zofl/wire"
)

// Items of the store that a prober's memory is in, and their magics.
const (
	itemControl     = "control"    // with scaffold-2: c_i
	itemTrajectory  = "trajectory" // with a surrogate: the losses it measured, and w_i
	controlMagic    = "zofl control 1\n"
	trajectoryMagic = "zofl trajectory 1\n"
)

// memoryItem is where the memory of a plan's rounds is stored; none: nowhere.
func memoryItem(plan *wire.Plan) (item, magic string) {
	switch {
	case !probe.Keeps(plan):
		return "", ""
	case plan.Estimator == wire.Surrogate:
		return itemTrajectory, trajectoryMagic
	}
	return itemControl, controlMagic
}

// remember readies what a round with transport=dense needs of earlier ones: of this process, or of the
// store. What is of another plan is forgotten, as its log was.
func (c *Client) remember(plan *wire.Plan) error {
	if !plan.SendsVectors() {
		return nil
	}
	m := c.prober.Memory()
	if item, magic := memoryItem(plan); c.prober.Prepare(c.replica) && item != "" && c.shelf.Keeps() {
		err := c.shelf.LoadStream(item, magic, m.Plan(), probe.ErrMemory, func(from io.Reader, size int64) error {
			return m.Load(from, size, plan)
		})
		if err != nil {
			return err
		}
	}
	lost := c.prober.Lost(c.replica)
	if lost == nil {
		return nil
	}
	c.cfg.Logger.Warn(lost.Error(), "record", c.replica.N()+1)
	return c.record(Progress{State: c.state, Err: lost})
}

// keepMemory makes durable what the device found in earlier rounds, where that changed.
func (c *Client) keepMemory() error {
	m, plan := c.prober.Memory(), c.replica.Plan()
	if !c.shelf.Keeps() || plan == nil || !m.Unsaved() || m.Plan() != wire.HashRecord(c.replica.First()) {
		return nil
	}
	item, magic := memoryItem(plan)
	if item == "" {
		return nil
	}
	err := c.shelf.SaveStream(item, magic, m.Plan(), m.Save)
	if err == nil {
		m.Saved()
	}
	return c.shelf.Check(item, err)
}
