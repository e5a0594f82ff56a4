package mobile

import (
	"context"
	"math"
	"sync"

	"github.com/zofl/zofl/client/objective"
)

// An Evaluator measures the model on held-out data: what the plan names as metrics,
// every so many records on a few devices, never in a round's way.
type Evaluator interface {
	// Evaluate calls e.AddMetric for each of the plan's metrics in the plan's order,
	// and e.SetSamples once. An error reports nothing.
	Evaluate(e *Evaluation) error
}

// An Evaluation is one call of an [Evaluator], and valid during that.
type Evaluation struct {
	ctx context.Context

	mu      sync.Mutex // guards what follows
	x       []float32  // nil: it is over
	values  []float64
	samples int
}

// Dim is the number of parameters.
func (e *Evaluation) Dim() int {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.x)
}

// ReadParams is that of [Round], of the model as it is.
func (e *Evaluation) ReadParams(off int, dst []byte) (n int, err error) {
	defer guard(&err)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.x == nil {
		return 0, coded(objective.ErrRevoked)
	}
	return readInto(dst, off, len(e.x), e.read)
}

// Block is that of [Round], of the model as it is.
func (e *Evaluation) Block(off, count int) (params []byte) {
	defer contain()
	e.mu.Lock()
	defer e.mu.Unlock()
	return copied(off, count, len(e.x), e.read)
}

// read is called with mu held.
func (e *Evaluation) read(to []float32, off int) error {
	copy(to, e.x[off:])
	return nil
}

// AddMetric adds the value of the plan's next metric, a mean over SetSamples'
// samples.
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

// SetSamples says how many samples the metrics are means over: this device's weight
// among those that report.
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

// Cancelled says whether a round needs the device: return soon.
func (e *Evaluation) Cancelled() bool { return e == nil || e.ctx == nil || e.ctx.Err() != nil }

// end makes the evaluation useless, and returns what it came to.
func (e *Evaluation) end() (values []float64, samples int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.x = nil
	return e.values, e.samples
}

// evaluates lets the runtime call an Evaluator.
type evaluates struct{ callbacks *callbacks }

func (v evaluates) Evaluate(ctx context.Context, x []float32) (values []float64, samples int, err error) {
	evaluator := held(v.callbacks, func() Evaluator { return v.callbacks.evaluator })
	if evaluator == nil {
		return nil, 0, errReleased
	}
	e := &Evaluation{ctx: ctx, x: x}
	defer func() { values, samples = e.end() }() // after a panic too
	return nil, 0, said(evaluator.Evaluate(e))
}
