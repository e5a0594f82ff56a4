package mobile

import (
	"context"
	"math"
	"sync"

	"github.com/zofl/zofl/client/objective"
)

// An Evaluator measures the model on held-out data: the metrics that the plan names. It is
// called on a few devices every few records, and never delays a round.
type Evaluator interface {
	// Evaluate calls e.AddMetric for each of the plan's metrics, in the plan's order, and
	// e.SetSamples once. If it returns an error, nothing is reported.
	Evaluate(e *Evaluation) error
}

// An Evaluation is one call of an [Evaluator], and valid during that call.
type Evaluation struct {
	ctx  context.Context
	plan *Plan

	mu      sync.Mutex // guards what follows
	x       []float32  // nil: the call is over
	values  []float64
	samples int
}

// Dim is the number of parameters.
func (e *Evaluation) Dim() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.x)
}

// Plan is the run's plan. It stays valid after the evaluation.
func (e *Evaluation) Plan() *Plan { return e.plan }

// ReadParams is like [Round]'s, for the current model.
func (e *Evaluation) ReadParams(off int, dst []byte) (n int, err error) {
	defer guard(&err)
	return e.write(floats, off, dst)
}

// ReadHalf is like [Round]'s, for the current model.
func (e *Evaluation) ReadHalf(off int, dst []byte) (n int, err error) {
	defer guard(&err)
	return e.write(halves, off, dst)
}

// ReadInt8 is like [Round]'s, for the current model.
func (e *Evaluation) ReadInt8(off int, scale float64, dst []byte) (n int, err error) {
	defer guard(&err)
	return e.write(multiples(scale), off, dst)
}

// write writes parameters off, off+1, ... into dst in a form.
func (e *Evaluation) write(as form, off int, dst []byte) (int, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.x == nil {
		return 0, coded(objective.ErrRevoked)
	}
	return as.read(dst, off, len(e.x), e.read)
}

// Block is like [Round]'s, for the current model.
func (e *Evaluation) Block(off, count int) (params []byte) {
	defer contain()
	e.mu.Lock()
	defer e.mu.Unlock()
	return copyOf(off, count, len(e.x), e.read)
}

// read copies parameters to to. The caller holds mu.
func (e *Evaluation) read(to []float32, off int) error {
	copy(to, e.x[off:])
	return nil
}

// AddMetric adds the value of the plan's next metric: the mean over the samples that
// SetSamples counts.
func (e *Evaluation) AddMetric(value float64) (err error) {
	defer guard(&err)
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return faultf(CodeConfig, "metric is %v: give a finite number", value)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.x == nil {
		return coded(objective.ErrRevoked)
	}
	e.values = append(e.values, value)
	return nil
}

// SetSamples sets how many samples the metrics are means over, which is this device's
// weight among the devices that report.
func (e *Evaluation) SetSamples(n int) (err error) {
	defer guard(&err)
	if n < 1 {
		return faultf(CodeConfig, "samples = %d: give at least 1", n)
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.x == nil {
		return coded(objective.ErrRevoked)
	}
	e.samples = n
	return nil
}

// Cancelled says whether a round needs the device: then return soon.
func (e *Evaluation) Cancelled() bool { return e == nil || e.ctx == nil || e.ctx.Err() != nil }

// RemainingMilliseconds is how long the evaluation may still take; 0: return soon.
func (e *Evaluation) RemainingMilliseconds() int64 {
	if e == nil {
		return 0
	}
	return remaining(e.ctx)
}

// end invalidates the evaluation, and returns its result.
func (e *Evaluation) end() (values []float64, samples int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.x = nil
	return e.values, e.samples
}

// evaluatorAdapter adapts an Evaluator to package client.
type evaluatorAdapter struct{ device *device }

func (v evaluatorAdapter) Evaluate(ctx context.Context, x []float32) (values []float64,
	samples int, err error) {
	evaluator := held(v.device.callbacks, func() Evaluator { return v.device.evaluator })
	if evaluator == nil {
		return nil, 0, errReleased
	}
	e := &Evaluation{ctx: ctx, plan: v.device.seen.Load(), x: x}
	defer func() { values, samples = e.end() }() // after a panic too
	return nil, 0, said(evaluator.Evaluate(e))
}
