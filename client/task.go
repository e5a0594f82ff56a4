package client

import (
	"context"
	"fmt"

	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/wire"
)

// A task is what a round asks of this device.
type task struct {
	n                    uint64 // record that is being made
	phase                uint8  // of the round
	steps, perturbations int    // K, in a first phase 1, and P
	eta                  float32
	source               uint32              // of the directions
	own                  wire.ControlVariate // this device's; N = 0: none
	missed               missed              // n = 0: nothing
}

// A missed is a first phase that this device had no part in, and that the second
// wants the scalars of.
type missed struct {
	n             uint64 // its record
	perturbations int
}

// queries is how many loss evaluations the task takes.
func (t *task) queries(plan *wire.Plan) uint64 {
	q := plan.PhaseQueries(t.phase, uint32(t.perturbations))
	if t.missed.n > 0 {
		q += plan.PhaseQueries(1, uint32(t.missed.perturbations))
	}
	return q
}

// task returns that of an announcement. It may have to ask the log what became of
// this device's last contribution.
func (c *Client) task(ctx context.Context, a *arrival, plan *wire.Plan) (task, error) {
	t := task{
		n: a.N, phase: c.replica.Phase(), steps: int(plan.Steps),
		perturbations: int(a.Perturbations), eta: a.Step, source: prng.Shared,
	}
	if plan.Sharing == wire.PerClient {
		t.source = prng.Slot(c.slot)
	}
	var err error
	switch {
	case plan.Control == wire.ScaffoldPoint && t.phase == 1:
		t.steps = 1
	case c.dense(): // control variates are in the vectors
		if point, _ := c.replica.Pending(); plan.Control == wire.ScaffoldPoint && c.est.dense.own.n != point {
			t.missed = missed{point, t.perturbations}
		}
	case plan.Control == wire.ScaffoldPoint:
		t.missed.n, t.missed.perturbations = c.replica.Pending()
		if t.own, err = c.variate(ctx, t.missed.n); t.own.N > 0 {
			t.missed = missed{}
		}
	case plan.Control == wire.ScaffoldMean:
		t.own, err = c.variate(ctx, 0)
	}
	return t, err
}

// possible says whether the plan can have made a round. Of a dense run scalars stay at
// home, so that there may be more of them than a reply has.
func possible(a *arrival, plan *wire.Plan) error {
	scalars := uint64(plan.Steps) * uint64(a.Perturbations)
	many := scalars > wire.MaxScalars && plan.Transport != wire.DenseVectors
	if scalars < 1 || many || !(a.Step > 0) {
		return fmt.Errorf("%w: %d steps of %d perturbations and size %v",
			errUnusable, plan.Steps, a.Perturbations, a.Step)
	}
	return nil
}
