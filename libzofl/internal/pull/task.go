package pull

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/zofl/zofl/client/objective"
)

// A Task is what the app has to do: the loss of a point, or the metrics of the model.
type Task struct {
	Size                uint64 // parameters
	Record, Seed        uint64
	Batch               uint32
	Step, Point, Points uint32
	Metrics             uint32 // HeldOut: how many the plan names
	HeldOut             bool
	Left                int64 // milliseconds; -1: no limit
}

// A task waits for the app to compute the losses of a step, or metrics. Its Device's mu guards what
// changes: point, values, err.
type task struct {
	ctx     context.Context
	points  *objective.Points // nil: metrics are asked
	model   *objective.Point  // of metrics
	batch   objective.Batch
	point   int // whose loss is next
	count   int // points, or metrics
	values  []float64
	samples int
	err     error
	done    chan struct{} // closed when the app has answered
}

// describe returns what the app sees of a task. The caller holds mu of the Device.
func (t *task) describe() Task {
	left := int64(-1)
	if end, ok := t.ctx.Deadline(); ok {
		left = max(0, time.Until(end).Milliseconds())
	}
	if t.points == nil {
		return Task{Size: uint64(t.model.Dim()), Points: 1, Metrics: uint32(t.count), HeldOut: true,
			Left: left, Record: t.batch.N}
	}
	return Task{Size: uint64(t.points.Dim()), Record: t.batch.N, Seed: t.batch.Seed,
		Batch: uint32(t.batch.Size), Step: uint32(t.batch.Step), Point: uint32(t.point),
		Points: uint32(t.count), Left: left}
}

// ask gives the app a task, and waits until it is answered or the round is over.
func (d *Device) ask(t *task) error {
	t.done = make(chan struct{})
	d.offer(t)
	select {
	case <-t.done:
		return t.err
	case <-t.ctx.Done():
		d.withdraw(t)
		return context.Cause(t.ctx)
	}
}

func (d *Device) offer(t *task) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.task = t
	d.change()
}

// withdraw takes a task back that the app has not answered.
func (d *Device) withdraw(t *task) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.task == t {
		d.task = nil
		d.change()
	}
}

// answered ends the task in hand. The caller holds mu.
func (d *Device) answered(err error) {
	d.task.err = err
	close(d.task.done)
	d.task = nil
}

var errNoTask = faultf(State, "no task in hand: the round may be over: call zofl_poll")

// Loss takes the loss of the point in hand.
func (d *Device) Loss(loss float64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	t := d.task
	switch {
	case t == nil:
		return errNoTask
	case t.points == nil && t.count != 1:
		return faultf(State, "the plan asks for %d metrics: call zofl_metrics", t.count)
	}
	t.values[t.point] = loss
	if t.point++; t.point == t.count {
		t.samples = max(1, int(d.cfg.Weight))
		d.answered(nil)
	}
	return nil
}

// Losses takes the losses of all points of a step.
func (d *Device) Losses(losses []float64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	t := d.task
	switch {
	case t == nil:
		return errNoTask
	case t.points == nil:
		return faultf(State, "metrics are asked: call zofl_metrics")
	case t.point > 0:
		return faultf(State, "%d losses of this step were given one by one: give the rest so", t.point)
	case len(losses) != t.count:
		return faultf(Value, "n = %d: the step has %d points: give a loss of each", len(losses), t.count)
	}
	copy(t.values, losses)
	d.answered(nil)
	return nil
}

// Metrics takes the metrics of the model, means over a number of samples.
func (d *Device) Metrics(values []float64, samples uint32) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	t := d.task
	switch {
	case t == nil:
		return errNoTask
	case t.points != nil:
		return faultf(State, "losses are asked, not metrics: call zofl_loss")
	case len(values) != t.count:
		return faultf(Value, "n = %d: the plan names %d metrics: give a value of each", len(values),
			t.count)
	case samples < 1 || samples > math.MaxInt32:
		return faultf(Value, "samples = %d: give how many the metrics are means over", samples)
	}
	copy(t.values, values)
	t.samples = int(samples)
	d.answered(nil)
	return nil
}

var errDeclined = errors.New("the app declined")

// Decline ends the task in hand without an answer.
func (d *Device) Decline() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.task == nil {
		return errNoTask
	}
	d.answered(errDeclined)
	return nil
}

// losses is the objective of an app that computes losses.
type losses struct{ *Device }

var _ objective.Batched = losses{}

func (l losses) Dim() int     { return int(l.cfg.Dim) }
func (l losses) Samples() int { return int(l.cfg.Weight) }

func (l losses) LossesAt(ctx context.Context, x *objective.Points, b objective.Batch,
	losses []float64,
) error {
	points := *x // which the app may still read after this call, to be told that it is over
	t := &task{ctx: ctx, points: &points, batch: b, count: x.Len(), values: make([]float64, x.Len())}
	if err := l.ask(t); err != nil {
		return err
	}
	copy(losses, t.values)
	return nil
}

// measured is the objective of an app that also has held-out data.
type measured struct{ losses }

var _ objective.StreamingEvaluator = measured{}

func (m measured) Evaluate(ctx context.Context, x []float32) ([]float64, int, error) {
	return m.EvaluateAt(ctx, objective.NewPoint(x))
}

func (m measured) EvaluateAt(ctx context.Context, x *objective.Point) (
	values []float64, samples int, err error,
) {
	model := *x
	n, _ := m.Records()
	t := &task{ctx: ctx, model: &model, batch: objective.Batch{N: n}, count: m.metrics()}
	t.values = make([]float64, t.count)
	if err := m.ask(t); err != nil {
		return nil, 0, err
	}
	return t.values, t.samples, nil
}

// metrics returns how many metrics the plan names.
func (d *Device) metrics() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.plan == nil {
		return 0
	}
	return len(d.plan.Metrics)
}
