package probe

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/zofl/zofl/client/internal/directional"
	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/plan"
)

// errGradient says that the app's gradient has an element that is NaN or infinite, or that the
// app's slope is NaN or infinite.
var errGradient = errors.New("the gradient is not finite")

// A differentiator is an objective that computes derivatives, with its buffers. A differentiator
// replaces the differences of a local step, and changes nothing else.
type differentiator struct {
	gradient  objective.Differentiable       // nil: the objective is no Differentiable
	streams   objective.StreamingDirectional // nil: the objective is none, or is a Differentiable
	slope     objective.Directional          // nil: none, or one of the two above
	projector *directional.Projector
	source    source    // of streams: where the app reads directions
	g         []float32 // the gradient, or the direction of a slope
	slopes    []float64 // the slopes along a step's directions, from a gradient
}

// init readies the differentiator for an objective.
func (d *differentiator) init(o objective.Objective, workers int) {
	var has bool
	if d.gradient, has = o.(objective.Differentiable); !has {
		if d.streams, has = o.(objective.StreamingDirectional); !has {
			d.slope, has = o.(objective.Directional)
		}
	}
	if has {
		d.projector = directional.New(workers)
		d.source.dim, d.source.tangent = o.Dim(), d.projector
	}
}

// serves says whether the objective can compute what a plan asks for. A surrogate and a ranking
// need losses, and the app gives no gradient of a single class.
func (d *differentiator) serves(p *plan.Plan) bool {
	return d.projector != nil && p.Estimator == plan.Differences && p.Classes == 0 &&
		p.Difference != plan.NoDifference
}

// calls returns the calls of the app for a step of P perturbations.
func (d *differentiator) calls(perturbations int) uint64 {
	if d.gradient != nil {
		return 1
	}
	return uint64(perturbations)
}

// blame adds to err the step, and for a slope the perturbation, of the call that failed.
func (d *differentiator) blame(q *query, err error) error {
	if d.gradient != nil {
		return fmt.Errorf("gradient at step %d: %w", q.k, err)
	}
	return fmt.Errorf("slope at step %d, perturbation %d: %w", q.k, q.p, err)
}

// differentiate readies a step. With a Differentiable objective, differentiate computes the
// derivatives along all directions, and returns the loss at x.
func (e *estimation) differentiate(perturbations int) (loss float64, err error) {
	d := &e.prober.slopes
	if d.g == nil && d.streams == nil {
		d.g = make([]float32, e.prober.dim)
	}
	if d.gradient == nil {
		e.computeLengths(perturbations)
		return 0, d.projector.Begin(e.plan, e.local.X, nil)
	}
	if loss, err = e.askGradient(); err != nil {
		return 0, err
	}
	// The app may have overwritten its x.
	if err := d.projector.Begin(e.plan, e.point(), d.g); err != nil {
		return 0, d.blame(&e.query, fmt.Errorf("%w: %w", errGradient, err))
	}
	return loss, e.project(perturbations)
}

// point returns the local iterate, within the plan's boxes, in the vector that the app sees.
func (e *estimation) point() []float32 {
	x := e.prober.flat()
	e.replica.Perturb(x, e.local.X, 0, 0, nil)
	return x
}

// askGradient asks the app for the gradient at the local iterate.
func (e *estimation) askGradient() (loss float64, err error) {
	d, x := &e.prober.slopes, e.point()
	for i := range d.g {
		d.g[i] = float32(math.NaN())
	}
	if err := e.enterFor(&e.prober.gradients, e.place.k, 0, 1); err != nil {
		return 0, err
	}
	loss, err = d.gradient.Gradient(e.ctx, x, e.batch, d.g)
	if err := e.leave(err); err != nil {
		return 0, err
	}
	return loss, e.finite(loss, e.place.k, 0)
}

// elementsAtOnce bounds how many elements of directions project reads before it checks again
// whether the round ended.
const elementsAtOnce = 1 << 27

// project computes the derivatives along all directions of a step.
func (e *estimation) project(perturbations int) error {
	d := &e.prober.slopes
	d.slopes = d.slopes[:0]
	many := max(1, min(lengthsAtOnce, elementsAtOnce/e.prober.dim))
	for from := 0; from < perturbations; from += many {
		if e.ctx.Err() != nil {
			return context.Cause(e.ctx)
		}
		z := e.directions(from, min(from+many, perturbations))
		var dst [lengthsAtOnce]float64
		d.projector.Project(dst[:len(z)], e.replica, z)
		d.slopes = append(d.slopes, dst[:len(z)]...)
	}
	now := time.Now()
	e.prober.gradients.lasted(now.Sub(e.began))
	e.began = now
	return nil
}

// slope returns the derivative along z[p], and the loss at x.
func (e *estimation) slope(base float64, p int) (derivative, loss float64, err error) {
	d := &e.prober.slopes
	if derivative, loss = 0, base; d.gradient != nil {
		derivative = d.slopes[p]
	} else if derivative, loss, err = e.askSlope(p); err != nil {
		return 0, 0, err
	}
	if !(math.Abs(derivative) <= math.MaxFloat32) {
		err = d.blame(&e.query, fmt.Errorf("%w: %v along direction %d", errGradient, derivative, p))
	}
	return derivative, loss, err
}

// askSlope asks the app for the derivative along z[p].
func (e *estimation) askSlope(p int) (derivative, loss float64, err error) {
	d, pr := &e.prober.slopes, e.prober
	var x, z *objective.Point
	if d.streams != nil {
		x = pr.source.point(e.replica, e.local.X, 0, e.place, p)
		z = d.source.point(e.replica, nil, 1, e.place, p)
	} else {
		e.point()
		d.projector.Tangent(d.g, 0, e.replica, &e.directions(p, p+1)[0])
	}
	if err := e.enterFor(&pr.gradients, e.place.k, p, 1); err != nil {
		return 0, 0, err
	}
	if d.streams != nil {
		loss, derivative, err = d.streams.SlopeAt(e.ctx, x, z, e.batch)
	} else {
		loss, derivative, err = d.slope.Slope(e.ctx, pr.flat(), d.g, e.batch)
	}
	if err := e.leave(err); err != nil {
		return 0, 0, err
	}
	return derivative, loss, e.finite(loss, e.place.k, p)
}
