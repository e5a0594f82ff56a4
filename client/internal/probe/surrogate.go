package probe

import (
	"context"
	"time"

	"github.com/zofl/zofl/client/internal/localrule"
	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/internal/surrogate"
)

// A trajectory is what a device knows about its loss with estimator=surrogate. A trajectory fits a
// Gaussian process (FZooS (8)) and the weights w_i (3) to the losses that the device measured. A
// trajectory also holds the buffers of local steps. Prepare allocates the trajectory with the
// memory of a plan. Coordinates are relative to the boxes.
//
// A point is a measured loss, so it stays valid whatever happens to the log. A device that works on
// a record again adds that record's points again.
type trajectory struct {
	frame    localrule.Frame
	process  *surrogate.Process
	fit      *surrogate.Fit
	features *surrogate.Features
	stored   storedPoints // points from the store that are not yet in process
	unsaved  bool         // the store does not have all points

	rule       localrule.Rule[float64]
	first, u   []float64 // x_0 and the local iterate
	gradient   []float64
	correction []float64 // gradient of the surrogate with weights w - w_i
	weights    []float64 // w - w_i, or w_i while the device computes it
	choice     choice
	x          [1][]float32 // the iterate in the form that the app sees
	added      []float64    // coordinates of a point that the device adds
}

func newTrajectory(r *replica.Replica, d, workers int) *trajectory {
	p := r.Plan()
	v, b := r.Features()
	features := surrogate.NewFeatures(d, v, b, float64(p.LengthScale))
	t := &trajectory{
		frame: localrule.FrameOf(p),
		process: surrogate.New(surrogate.Config{
			Dim: d, Window: int(p.Window), LengthScale: float64(p.LengthScale),
			Noise: float64(p.Noise), ZeroMean: p.Prior > 0, Workers: workers,
		}),
		fit:      surrogate.NewFit(features, int(p.Window), float64(p.Noise)),
		features: features,
		weights:  make([]float64, features.Len()),
	}
	if p.Prior > 0 {
		t.fit.ZeroMean()
	}
	for _, v := range []*[]float64{&t.first, &t.u, &t.gradient, &t.correction, &t.added} {
		*v = make([]float64, d)
	}
	t.x[0] = make([]float32, d)
	return t
}

// add adds the point x with loss y.
func (t *trajectory) add(x []float32, y float64) {
	t.frame.Coordinates(t.added, x)
	t.process.Add(t.added, y)
	t.fit.Add(t.added, y)
	t.unsaved = true
}

// surrogateSteps is phase 1 of FZooS's Algorithm 2, lines 2-6, with the local rule of the plan. The
// vector to send is x_K.
//
//	for t from 1 to K {
//		query f at u, and around u where its gradient is least certain
//		g = gradient of the posterior mean at u + gamma (that of w - w_i)
//		u = clip(u - eta * rule(g + prox (u - u_0) + decay u))
//	}
func (e *estimation) surrogateSteps() error {
	t := e.prober.memory.trajectory
	if err := e.begin(); err != nil {
		return err
	}
	corrected := e.setWeights()
	t.rule.Begin(e.plan.Rule, e.prober.dim)
	for k := range int(e.plan.Steps) {
		if err := e.explore(k, int(e.plan.Active)); err != nil {
			return err
		}
		t.process.Gradient(t.gradient, t.u)
		if corrected {
			e.correctGradient(k + 1)
		}
		localrule.Pull(t.gradient, t.u, t.first, e.plan, t.frame.Inside)
		t.rule.Move(t.u, t.gradient, e.plan, e.StepSize, t.frame.Inside)
		if err := e.cancelled(); err != nil {
			return err
		}
	}
	t.frame.Parameters(e.vector, t.u)
	return nil
}

// queryAround is phase 2 of FZooS's Algorithm 2, lines 7 and 8. The vector to send is w_i. The
// device fits w_i after queries at and around the model.
func (e *estimation) queryAround() error {
	t := e.prober.memory.trajectory
	if err := e.begin(); err != nil {
		return err
	}
	if err := e.explore(0, int(e.plan.Around)); err != nil {
		return err
	}
	t.fit.Weights(t.weights)
	for j, w := range t.weights {
		e.vector[j] = float32(w)
	}
	return nil
}

// begin sets the local iterate to the model, and adds the points that the device loaded from the
// store.
func (e *estimation) begin() error {
	t := e.prober.memory.trajectory
	e.unit = "query"
	t.frame.Coordinates(t.first, e.local.X)
	copy(t.u, t.first)
	err := t.restore(e.cancelled)
	e.began = time.Now()
	return err
}

// cancelled returns the cause of the round's context if the context has ended.
func (e *estimation) cancelled() error {
	if e.ctx.Err() != nil {
		return context.Cause(e.ctx)
	}
	return nil
}

// restore adds the points that the device loaded from the store, until stop returns an error.
// restore leaves the other points for the next round.
func (t *trajectory) restore(stop func() error) error {
	r, d := &t.stored, len(t.u)
	for len(r.y) > 0 {
		if err := stop(); err != nil {
			return err
		}
		unsaved := t.unsaved
		t.add(r.x[:d], r.y[0])
		t.unsaved = unsaved
		r.x, r.y = r.x[d:], r.y[1:]
	}
	*r = storedPoints{}
	return nil
}
