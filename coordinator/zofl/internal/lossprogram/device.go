package lossprogram

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/zofl/zofl/client/objective"
)

// A device is the objective of one device. It declines rounds while no program runs.
type device struct {
	p  *Program
	id string
}

// Objective returns the objective of a device. It can evaluate metrics and compute gradients if the
// program can.
func (p *Program) Objective(id string) objective.Batched {
	d := &device{p, id}
	switch {
	case p.hello.evaluate && p.hello.gradient:
		return struct {
			*device
			evaluator
			differentiator
		}{d, evaluator{d}, differentiator{d}}
	case p.hello.evaluate:
		return struct {
			*device
			evaluator
		}{d, evaluator{d}}
	case p.hello.gradient:
		return struct {
			*device
			differentiator
		}{d, differentiator{d}}
	}
	return d
}

// Dim implements [objective.Objective].
func (d *device) Dim() int { return d.p.dim }

// Samples implements [objective.Sampler].
func (d *device) Samples() int { return d.p.hello.samples }

// MayWork implements [objective.Policy].
func (d *device) MayWork(objective.Work) bool { return d.p.Err() == nil }

// LossesAt implements [objective.Batched].
func (d *device) LossesAt(
	ctx context.Context, x *objective.Points, b objective.Batch, losses []float64,
) error {
	want, ask := d.p.shapeFor(1), d.lossesNear
	if want.factors.count == 0 {
		want.points, ask = min(d.p.points, x.Len()), d.lossesOfPoints
	}
	return d.p.session(ctx, want, func(t *talk, file *sharedFile) error {
		return ask(ctx, t, file, x, b, losses)
	})
}

// lossesOfPoints asks for the losses at points, some at a time.
func (d *device) lossesOfPoints(
	ctx context.Context, t *talk, file *sharedFile, x *objective.Points, b objective.Batch,
	losses []float64,
) error {
	for from, most := 0, min(d.p.points, x.Len()); from < x.Len(); from += most {
		n := min(most, x.Len()-from)
		points := make([][]float32, x.Len())
		for i := range n {
			points[from+i] = file.point(i)
		}
		if err := file.check(); err != nil { // the program has had the file since the first request
			return err
		}
		if err := x.Read(points, 0); err != nil {
			return err
		}
		request := fmt.Sprintf("loss %s points=%d left=%s", d.batch(b), n, left(ctx))
		words, err := t.ask(ctx, request, "loss")
		if err != nil {
			return err
		}
		if err := lossesOf(losses[from:from+n], words); err != nil {
			return err
		}
	}
	return nil
}

func (d *device) batch(b objective.Batch) string {
	return fmt.Sprintf("device=%s n=%d step=%d size=%d seed=%d", d.id, b.N, b.Step, b.Size, b.Seed)
}

// left returns how many seconds remain until a context's deadline, as text.
func left(ctx context.Context) string {
	deadline, ok := ctx.Deadline()
	if !ok {
		return "inf"
	}
	return strconv.FormatFloat(max(0, time.Until(deadline).Seconds()), 'f', 3, 64)
}

// An evaluator lets the program compute the metrics of the model.
type evaluator struct{ d *device }

// Evaluate implements [objective.Evaluator].
func (e evaluator) Evaluate(
	ctx context.Context, x []float32,
) (m []float64, samples int, err error) {
	return e.EvaluateAt(ctx, objective.NewPoint(x))
}

// EvaluateAt implements [objective.StreamingEvaluator].
func (e evaluator) EvaluateAt(
	ctx context.Context, x *objective.Point,
) (m []float64, samples int, err error) {
	err = e.d.p.session(ctx, e.d.p.shapeFor(1), func(t *talk, file *sharedFile) error {
		if err := e.d.p.setX(file, "", func(to []float32) error { return x.Read(to, 0) }); err != nil {
			return err
		}
		request := fmt.Sprintf("evaluate device=%s%s left=%s", e.d.id, file.written(), left(ctx))
		words, err := t.ask(ctx, request, "metrics")
		if err != nil {
			return err
		}
		m, samples, err = parseMetrics(words)
		return err
	})
	return m, samples, err
}

func parseMetrics(words []string) (m []float64, samples int, err error) {
	samples = 1
	var values []string
	for _, w := range words {
		if count, ok := strings.CutPrefix(w, "samples="); ok {
			if samples, err = strconv.Atoi(count); err != nil || samples < 1 {
				return nil, 0, fmt.Errorf("the program said samples=%s: give a positive number",
					clip(count))
			}
		} else if !strings.Contains(w, "=") {
			values = append(values, w)
		}
	}
	m = make([]float64, len(values))
	return m, samples, metricsOf(m, values)
}

// A differentiator lets the program compute gradients.
type differentiator struct{ d *device }

// Gradient implements [objective.Differentiable].
func (g differentiator) Gradient(
	ctx context.Context, x []float32, b objective.Batch, to []float32,
) (loss float64, err error) {
	err = g.d.p.session(ctx, shape{dim: g.d.p.dim, points: 2}, func(t *talk, file *sharedFile) error {
		copy(file.point(0), x)
		for i := range file.point(1) {
			file.point(1)[i] = float32(math.NaN()) // to find an element that the program did not write
		}
		request := fmt.Sprintf("gradient %s left=%s", g.d.batch(b), left(ctx))
		words, err := t.ask(ctx, request, "loss")
		if err != nil {
			return err
		}
		losses := make([]float64, 1)
		if err := lossesOf(losses, words); err != nil {
			return err
		}
		if err := file.check(); err != nil {
			return err
		}
		loss = losses[0]
		copy(to, file.point(1))
		return nil
	})
	return loss, err
}

// lossesOf reads the words of an answer, and returns an error unless there are as many losses as
// asked. It accepts losses that are not finite. The client decides about them: far from the model,
// where the client looks for mu and a step size, a loss may be infinite.
func lossesOf(to []float64, words []string) error {
	if len(words) != len(to) {
		return fmt.Errorf("the program answered %d numbers after loss, and was asked for %d", len(words),
			len(to))
	}
	for i, word := range words {
		switch v, err := strconv.ParseFloat(word, 64); {
		case err == nil, errors.Is(err, strconv.ErrRange): // beyond float64: v is infinite
			to[i] = v
		case strings.EqualFold(strings.TrimLeft(word, "+-"), "nan"): // as C and awk print a NaN
			to[i] = math.NaN()
		default:
			return fmt.Errorf("the program answered %s as number %d after loss: give a number",
				clip(word), i)
		}
	}
	return nil
}

// metricsOf reads the words of an answer, and returns an error unless there are as many metrics as
// asked, all finite.
func metricsOf(to []float64, words []string) error {
	for i, word := range words {
		v, err := strconv.ParseFloat(word, 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("the program answered %s as number %d after metrics: give a finite number",
				clip(word), i)
		}
		to[i] = v
	}
	return nil
}
