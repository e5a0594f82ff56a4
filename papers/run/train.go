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
	// Shares holds the samples of each client by slot, and has as many elements as the plan has
	// Members.
	Shares [][]int
	Order  Order
	// Differentiates says which clients, by slot, give gradients instead of losses, if the plan's
	// estimator takes them; nil: none. The saved rows contain no counts of gradients: a continued
	// run counts the gradients again from the log.
	Differentiates func(slot int) bool
	// Measure reports whether to measure the model after a round; nil: never.
	Measure func(round uint64) bool
	// Dir is the directory in which Train saves the log and the curve; empty: Train saves nothing. A
	// stopped run continues from Dir, but a run with control variates or surrogates starts again.
	Dir string
	// If Everything is set, the curve also counts the bytes by which the clients join, see
	// [Totals].Other. A continued run does not count the bytes by which the clients join again,
	// because real devices keep their state.
	Everything bool
	// Train calls Progress, unless nil, after every round, in order, from one goroutine at a time.
	// Progress must not keep the curve.
	Progress func(*Curve)
	// Secret is the run key of a private plan; nil: the plan is public. The clients and the harness
	// know the run key of a private plan, the coordinator does not.
	Secret []byte
	// Train calls Heard, unless nil, with each reply that the coordinator receives and the slot of
	// the client that sent it, from one goroutine at a time. Heard must not keep the frame.
	Heard func(slot int, frame []byte)
	// Mix, unless nil, changes the contributions of a round before the coordinator has them, as an
	// aggregation that the coordinator lacks would. All clients contribute to each round, always in
	// the same order.
	Mix func(contributions [][]float32)
}

// A Result is the result of a training.
type Result struct {
	Curve  *Curve
	Totals Totals // of this process
	Cut    uint64 // contributions and control variates that were cut, in this process
	// Suspects are the clients whose contributions stood out when the training ended, and how.
	Suspects map[string]string
	Params   []float32 // after the last round
	// Log has the records of a run without Config.Dir. With Config.Dir, Log is nil.
	Log *runlog.Memory
}

// errNoGradient says that clients should give gradients, but the task has none.
var errNoGradient = errors.New("the task has no gradient: give Task.Gradient, or let no client " +
	"differentiate")

// errPaused ends the training when a run pauses, because in a simulation nobody resumes the run.
var errPaused = errors.New("paused")

// Train trains until the plan is done, the run has diverged or paused, or ctx ends. Curve.Ended
// says whether the plan was done, or the run diverged or paused. If ctx ends the training,
// Curve.Ended is empty, and the error is ctx's cause. Train returns a result even with an error,
// unless the error came before there was a result.
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
