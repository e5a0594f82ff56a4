package run

import (
	"context"
	"errors"
	"fmt"

	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/plancheck"
)

// Config says what to train.
type Config struct {
	Name string // of the curve
	Seed uint64 // of the curve; see [Plan]
	Task Task
	Plan *plan.Plan
	// Shares are the samples of each client by slot; there are as many as the plan's
	// Members.
	Shares [][]int
	Order  Order
	// Differentiates says which clients, by slot, give gradients instead of losses, if the
	// plan's estimator takes them; nil: none. The rows that are kept count no gradients: they
	// are counted again from the log.
	Differentiates func(slot int) bool
	// Measure reports whether to measure the model after a round; nil: never.
	Measure func(round uint64) bool
	// Dir is where the log and the curve are kept; empty: nowhere. A stopped run continues from there,
	// except that one with control variates or surrogates starts again.
	Dir string
	// Everything counts also the bytes that assemble the fleet, see [Totals].Other. A run that
	// continues does not count those of later assemblies: real devices keep their state.
	Everything bool
	// Progress, unless nil, is called after every round, in order, by one goroutine at a
	// time. It must not keep the curve.
	Progress func(*Curve)
	// Secret is the run key of a private plan, which clients and the harness have, and the
	// coordinator has not; nil: the plan is public.
	Secret []byte
	// Heard, unless nil, is called with each reply that the coordinator gets and the slot of
	// its client, by one goroutine at a time. It must not keep the frame.
	Heard func(slot int, frame []byte)
}

// A Result is the result of a training.
type Result struct {
	Curve  *Curve
	Totals Totals    // of this process
	Cut    uint64    // contributions and control variates that were cut, in this process
	Params []float32 // after the last round
	// Log has the records of a run without Config.Dir; nil with.
	Log *runlog.Memory
}

// errNoGradient: the clients need gradients that their loss does not have.
var errNoGradient = errors.New("the task has no gradient: give Task.Gradient, or let no client " +
	"differentiate")

// errPaused: a paused run stays paused, because nobody resumes it in a simulation.
var errPaused = errors.New("paused")

// Train trains until the plan is done, the run has diverged or paused, or ctx ends.
// Curve.Ended says which of these; it is empty if ctx stopped the run, and then the error
// is ctx's cause. Even with an error there is a result if the run got to one.
func Train(ctx context.Context, cfg Config) (*Result, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	t := &training{cfg: &cfg, curve: &Curve{Name: cfg.Name, Seed: cfg.Seed, Metrics: cfg.Task.Metrics}}
	defer t.close()
	if err := t.open(ctx); err != nil {
		return nil, err
	}
	err := t.train(ctx)
	return t.result(), err
}

func (c *Config) check() error {
	if err := plancheck.Validate(c.Plan); err != nil {
		return err
	}
	switch {
	case len(c.Shares) != int(c.Plan.Members):
		return &plan.Error{Field: "members", Value: c.Plan.Members,
			Remedy: fmt.Sprintf("there are %d shares: make them as many", len(c.Shares))}
	case uint64(c.Task.Dim) != c.Plan.Dim:
		return &plan.Error{Field: "dim", Value: c.Plan.Dim,
			Remedy: fmt.Sprintf("the model has %d parameters: set it to that", c.Task.Dim)}
	case c.Differentiates != nil && c.Task.Gradient == nil:
		return errNoGradient
	}
	return nil
}
