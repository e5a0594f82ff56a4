package fleet

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// ErrGradient: the gradient or slope of a device does not match its loss.
var ErrGradient = errors.New("a gradient that is not of its loss")

// CheckGradient compares a gradient or slope with differences of the loss, once, on the first
// device that has both. CheckGradient returns an error that matches [ErrGradient] if the rise of
// the loss is less than two thirds, or more than one and a half times, of the rise that the
// gradient predicts. The error requires this mismatch at each of the distances 0.001, 0.01 and 0.1
// at which the difference exceeds the noise of the loss. CheckGradient evaluates up to 24 losses,
// at or near the initial parameters. If the plan has boxes or uses no gradients, CheckGradient
// evaluates nothing and returns nil. CheckGradient also returns nil if the device fails.
func CheckGradient(ctx context.Context, p *plan.Plan, devices []objective.Objective,
	o Options) error {
	if len(p.Boxes) > 0 || p.Estimator == plan.Surrogate {
		return nil
	}
	at := slices.IndexFunc(devices, func(d objective.Objective) bool {
		return riseOf(d) != nil && lossOf(d) != nil
	})
	if at < 0 {
		return nil
	}
	x, err := first(p, &o)
	if err != nil {
		return err
	}
	id := fmt.Sprint("d", at)
	c := comparison{ctx: ctx, loss: lossOf(devices[at]), rise: riseOf(devices[at]),
		batch: objective.Batch{N: 2, Size: int(p.Batch),
			Seed: plan.BatchSeed(p.Run, id, 2, 0)}}
	if s, ok := devices[at].(objective.Sampler); ok && s.Samples() > 0 {
		c.batch.Size = min(c.batch.Size, s.Samples())
	}
	if told := c.compare(x); !told { // many models have a zero gradient if all parameters are 0
		for i, v := range signs(len(x), 0) {
			x[i] += v / 10
		}
		c.compare(x)
	}
	if c.wrong == "" {
		return nil
	}
	return fmt.Errorf("%w: device %s: %s: return the gradient or slope of the mean loss on the "+
		"minibatch that the Batch names", ErrGradient, id, c.wrong)
}

// first returns the parameters before round 1.
func first(plan *plan.Plan, o *Options) ([]float32, error) {
	r := replica.New(replica.Config{Run: plan.Run, Initial: o.Initial, RunKey: o.RunKey})
	record := wire.Record{N: 1, Prev: wire.Genesis(plan.Run), Kind: wire.KindPlan, Plan: plan}
	if err := r.Apply(record.Append(nil)); err != nil {
		return nil, err
	}
	return slices.Clone(r.Params()), nil
}

// A comparison compares one device's gradient with its loss. A comparison ignores failures of the
// device, because the run reports them.
type comparison struct {
	ctx   context.Context
	loss  func(context.Context, []float32, objective.Batch) (float64, error)
	rise  func(ctx context.Context, x []float32, b objective.Batch) (along, error)
	batch objective.Batch
	wrong string
}

// compare says whether the losses around x agree with the gradient at x.
func (c *comparison) compare(x []float32) (told bool) {
	defer func() {
		if recover() != nil {
			told = false
		}
	}()
	says, err := c.rise(c.ctx, slices.Clone(x), c.batch)
	if err != nil {
		return false
	}
	u, err := says.direction()
	if err != nil || u == nil {
		return false
	}
	here := make([]float64, 4)
	for i := range here {
		if here[i], err = c.loss(c.ctx, slices.Clone(x), c.batch); err != nil {
			return false
		}
	}
	noise := slices.Max(here) - slices.Min(here) + 1e-6*math.Abs(here[0])
	wrong := ""
	for _, far := range []float64{1e-3, 1e-2, 1e-1} {
		up, down, z := slices.Clone(x), slices.Clone(x), make([]float32, len(x))
		for i, v := range u {
			up[i] += float32(far * v)
			down[i] -= float32(far * v)
			z[i] = up[i] - down[i] // about 2 far v: rounding changes it
		}
		said, err := says.along(z)
		if err != nil {
			return false
		}
		high, err1 := c.loss(c.ctx, up, c.batch)
		low, err2 := c.loss(c.ctx, down, c.batch)
		if err1 != nil || err2 != nil {
			return false
		}
		rise := high - low
		// The comparison is also false for NaN.
		if !(math.Max(math.Abs(rise), math.Abs(said)) > 20*noise) || said == 0 {
			continue
		}
		if ratio := rise / said; ratio >= 2./3 && ratio <= 3./2 {
			return true
		}
		if told = true; wrong == "" {
			wrong = fmt.Sprintf("where its gradient says that the loss rises by %.4g, it rises by %.4g",
				said, rise)
		}
	}
	c.wrong = wrong
	return told
}
