package probe

import (
	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/plan"
)

// A measurement is what a device measures for an announcement: the transport of a round, or a
// survey.
type measurement interface {
	// prepare readies an estimation, which has its task and replica.
	prepare(e *estimation)
	// estimate does the local steps, or asks for the losses of a survey.
	estimate(e *estimation) error
	// finish looks at the outcome of a task.
	finish(e *estimation)
}

// A transport is the part of a task that depends on the plan's transport: what the device computes
// and sends, and what it remembers.
type transport interface {
	measurement
	// missed returns the first phase that a second one of P perturbations needs, of the
	// record that [replica.Replica.Pending] names, if this device has to make up for it.
	missed(p *Prober, r *replica.Replica, perturbations int) MissedPhase
	// keeps says whether rounds of a plan leave a memory worth storing.
	keeps(plan *plan.Plan) bool
}

func transportOf(plan *plan.Plan) transport {
	if plan.SendsVectors() {
		return vectors{}
	}
	if plan.Classes > 0 {
		return classes{}
	}
	return scalars{}
}

// scalars: the device sends differences of its loss along seeded directions.
type scalars struct{}

func (scalars) estimate(e *estimation) error { return e.scalarsToSend() }
func (scalars) finish(e *estimation)         { e.prober.watchZeros(e.scalars) }
func (scalars) keeps(*plan.Plan) bool        { return false }

func (scalars) prepare(e *estimation) {
	b := &e.prober.buffers
	e.local.M = e.replica.Momentum()
	if e.Steps > 1 {
		b.x = append(b.x[:0], e.local.X...)
		b.m = append(b.m[:0], e.local.M...)
		e.local.X, e.local.M = b.x, b.m
		if e.plan.Control != plan.NoControl {
			b.correction = room(b.correction, e.prober.dim)
			e.local.Correction = b.correction
		}
	}
	b.scalars = room(b.scalars, e.Steps*e.Perturbations)
	e.scalars = b.scalars
}

// missed: without the device's own control variate, [Task.Corrects], any first phase.
func (scalars) missed(_ *Prober, r *replica.Replica, _ int) MissedPhase {
	point, perturbations := r.Pending()
	return MissedPhase{point, perturbations}
}

// vectors: the device sends a vector, and remembers its own part.
type vectors struct{}

func (vectors) prepare(*estimation)          {}
func (vectors) estimate(e *estimation) error { return e.vectorToSend() }
func (vectors) finish(*estimation)           {}

func (vectors) missed(p *Prober, r *replica.Replica, perturbations int) MissedPhase {
	if point, _ := r.Pending(); p.memory.own.n != point {
		return MissedPhase{point, perturbations}
	}
	return MissedPhase{}
}

func (vectors) keeps(p *plan.Plan) bool {
	return p.Estimator == plan.Surrogate || p.Control == plan.ScaffoldMean
}
