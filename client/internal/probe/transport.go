package probe

import (
	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/plan"
)

// A measurement is what a device measures for an announcement: the transport of a round, or a
// survey.
type measurement interface {
	// prepare readies an estimation that has its task and replica.
	prepare(e *estimation)
	// estimate does the local steps, or asks for the losses of a survey.
	estimate(e *estimation) error
	// finish checks the result of a task.
	finish(e *estimation)
}

// A transport is the part of a task that depends on the plan's transport: what the device computes
// and sends, and what it keeps for later rounds.
type transport interface {
	measurement
	// missed returns the first phase whose scalars a second phase of P perturbations needs. The first
	// phase belongs to the record that [replica.Replica.Pending] names. missed returns the zero value
	// if this device need not compute the scalars again.
	missed(p *Prober, r *replica.Replica, perturbations int) MissedPhase
	// keeps says whether the device must store a memory after rounds of a plan.
	keeps(plan *plan.Plan) bool
}

func transportOf(pl *plan.Plan) transport {
	switch {
	case pl.SendsVectors():
		return vectors{}
	case pl.Classes > 0:
		return classes{}
	case pl.Difference == plan.NoDifference:
		return candidates{}
	}
	return scalars{}
}

// scalars is the transport of devices that send differences of their losses along seeded
// directions.
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

// missed returns the pending first phase. [Task.Corrects] removes it if the device has its own
// control variate.
func (scalars) missed(_ *Prober, r *replica.Replica, _ int) MissedPhase {
	point, perturbations := r.Pending()
	return MissedPhase{point, perturbations}
}

// vectors is the transport of devices that send a vector, and keep their own part of it.
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
