package run

import (
	"context"
	"errors"
	"fmt"

	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/plancheck"
)

// Config says what to train.
type Config struct {
	Name string // of the curve
	Seed uint64 // of the curve; see [Plan]
	Task Task
	Plan *wire.Plan
	// Shares are the samples of each client, by slot: as many as the plan's Members.
	Shares [][]int
	Order  Order
	// Measure says after which rounds the model is measured; nil: never.
	Measure func(round uint64) bool
	// Dir is where the log and the curve are kept, so that a run that was stopped goes
	// on where it was, or one with control variates or surrogates begins again; empty:
	// nowhere.
	Dir string
	// Progress is called after every round, by one goroutine at a time, in order;
	// nil: nobody is. It must not keep the curve.
	Progress func(*Curve)
}

// A Result is what a training came to.
type Result struct {
	Curve  *Curve
	Totals Totals    // of this process
	Params []float32 // after the last round
	// Log has the records of a run without Config.Dir; nil with.
	Log *runlog.Memory
}

// errPaused: nothing in a simulation resumes a run.
var errPaused = errors.New("paused")

// Train trains until the plan is done, the run has diverged or paused, or ctx ends.
// Curve.Ended says which; of a run that ctx stopped it is empty, and the error is
// ctx's cause. With an error there is a result if the run came to one.
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
		return &wire.PlanError{Field: "members", Value: c.Plan.Members, Remedy: fmt.Sprintf("there are %d shares: make them as many", len(c.Shares))}
	case uint64(c.Task.Dim) != c.Plan.Dim:
		return &wire.PlanError{Field: "dim", Value: c.Plan.Dim, Remedy: fmt.Sprintf("the model has %d parameters: set it to that", c.Task.Dim)}
	}
	return nil
}
