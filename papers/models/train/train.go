package train

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/zofl/zofl/papers/models"
)

// An Optimizer is a rule by which gradients move the parameters.
type Optimizer int

const (
	// Adam moves the parameters by m/(sqrt(v)+1e-8). As in Kingma and Ba, m is the moving mean of
	// the gradients with beta 0.9, v that of their squares with beta 0.999, both bias corrected.
	Adam Optimizer = iota
	// Momentum moves the parameters by m, with m = Beta*m + g as in PyTorch's SGD.
	Momentum
)

// Config says how to train.
type Config struct {
	Optimizer Optimizer
	Epochs    int     // passes over the samples; 0 is 2
	Batch     int     // samples a minibatch; 0 is 64
	Step      float64 // step size; 0 is 0.005 for Adam and 0.05 for Momentum
	Beta      float64 // of Momentum, in [0, 1); 0 is 0.9
	// WarmUp is the share of the steps in which the step size grows linearly from 0 to Step.
	// Afterwards the step size falls linearly to 0. A WarmUp of 0 means 0.1.
	WarmUp float64

	Seed       uint64    // of the first parameters and the minibatches
	Initial    []float32 // first parameters, copied; nil: [models.Initial]
	Goroutines int       // that compute gradients and evaluate; 0 is 1

	// Test is the model that Train evaluates every EvalEvery steps and after the last step; nil:
	// never. An EvalEvery of 0 means once an epoch. If Target is not 0, the training ends once the
	// accuracy on Test is at least Target.
	Test      models.Model
	EvalEvery int
	Target    float64
	// Train calls Progress, unless nil, after each evaluation, or after each epoch if there is no
	// Test. If Progress returns an error, Train stops and returns that error.
	Progress func(Progress) error
}

// A Progress is how far the training came.
type Progress struct {
	Step, Steps int     // minibatches, and how many it takes in all
	Loss        float64 // mean of the minibatches since the last one
	TestLoss    float64 // of Test, if any
	Accuracy    float64 // likewise
}

// errTarget ends a training whose accuracy has reached Config.Target.
var errTarget = errors.New("target reached")

// Train minimizes the loss of m and returns its parameters. If ctx ends or Progress fails, it
// returns that error and the parameters so far. If the loss is not finite, it returns an error that
// says so.
func Train(ctx context.Context, m models.Differentiable, cfg Config) (params []float32, err error) {
	cfg, err = cfg.withDefaults(m)
	if err != nil {
		return nil, err
	}
	t := newTrainer(m, cfg)
	for epoch := range cfg.Epochs {
		rng := rand.New(rand.NewPCG(cfg.Seed, uint64(epoch)))
		for batch := range slices.Chunk(rng.Perm(m.Len()), cfg.Batch) {
			if err := ctx.Err(); err != nil {
				return t.params, err
			}
			if err := t.step(batch); errors.Is(err, errTarget) {
				return t.params, nil
			} else if err != nil {
				return t.params, err
			}
		}
	}
	return t.params, nil
}

// withDefaults returns c with its defaults in place.
func (c Config) withDefaults(m models.Differentiable) (Config, error) {
	c.Epochs, c.Batch = or(c.Epochs, 2), or(c.Batch, 64)
	c.Beta, c.WarmUp, c.Goroutines = or(c.Beta, 0.9), or(c.WarmUp, 0.1), or(c.Goroutines, 1)
	if c.Optimizer == Momentum {
		c.Step = or(c.Step, 0.05)
	}
	c.Step = or(c.Step, 0.005)
	c.EvalEvery = or(c.EvalEvery, (m.Len()+c.Batch-1)/max(c.Batch, 1))
	if c.Initial == nil {
		c.Initial = models.Initial(m, c.Seed)
	}
	return c, c.check(m)
}

func (c *Config) check(m models.Differentiable) error {
	switch {
	case c.Optimizer != Adam && c.Optimizer != Momentum:
		return fmt.Errorf("train: Optimizer is %d: take Adam or Momentum", c.Optimizer)
	case c.Epochs < 0 || c.Batch < 0 || c.EvalEvery < 0 || c.Goroutines < 0:
		return fmt.Errorf("train: Epochs %d, Batch %d, EvalEvery %d, Goroutines %d: none may be negative",
			c.Epochs, c.Batch, c.EvalEvery, c.Goroutines)
	case !(c.Step > 0) || math.IsInf(c.Step, 1):
		return fmt.Errorf("train: Step is %v: it must be positive and finite", c.Step)
	case !(c.Beta >= 0 && c.Beta < 1):
		return fmt.Errorf("train: Beta is %v: it must be in [0, 1)", c.Beta)
	case !(c.WarmUp > 0 && c.WarmUp < 1):
		return fmt.Errorf("train: WarmUp is %v: it must be in (0, 1)", c.WarmUp)
	case len(c.Initial) != m.Dim():
		return fmt.Errorf("train: Initial has %d parameters, the model %d", len(c.Initial), m.Dim())
	case c.Target != 0 && c.Test == nil:
		return fmt.Errorf("train: Target is %v, but there is no Test to reach it on", c.Target)
	}
	return nil
}

// or returns v, or the given default if v is zero.
func or[T comparable](v, zero T) T {
	var none T
	if v == none {
		return zero
	}
	return v
}
