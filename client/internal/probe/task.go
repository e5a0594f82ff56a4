package probe

import (
	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/internal/grouping"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/wire"
)

// A Task is what a round asks of this device.
type Task struct {
	N             uint64 // index of the record that the round makes
	Phase         uint8  // of the round, see plan.Plan.Phases
	Steps         int    // K; 1 in a first phase
	Perturbations int    // P
	StepSize      float32
	Source        uint32              // of the directions: prng.Shared, or a slot's
	Control       wire.ControlVariate // this device's c_i; N = 0: none
	Missed        MissedPhase         // N = 0: none
}

// A MissedPhase is a phase-1 record that this device skipped, and whose scalars phase 2 needs.
type MissedPhase struct {
	N             uint64 // index of the record
	Perturbations int
}

// Queries returns how many loss evaluations the task takes.
func (t *Task) Queries(plan *plan.Plan) uint64 {
	q := plan.PhaseQueries(t.Phase, uint32(t.Perturbations))
	if t.Missed.N > 0 {
		q += plan.PhaseQueries(1, uint32(t.Missed.Perturbations))
	}
	return q
}

// Calls returns the calls of the app's objective that a task takes. A survey asks for losses,
// whatever other methods the objective has.
func (p *Prober) Calls(plan *plan.Plan, t *Task) Calls {
	if !p.slopes.serves(plan) {
		return Calls{Queries: t.Queries(plan)}
	}
	calls := uint64(t.estimates(plan)) * p.slopes.calls(t.Perturbations)
	if t.Missed.N > 0 {
		calls += p.slopes.calls(t.Missed.Perturbations)
	}
	return Calls{Gradients: calls}
}

// Usual returns the calls that the next round takes with the plan's number of perturbations.
func (p *Prober) Usual(r *replica.Replica) Calls {
	pl := r.Plan()
	t := Task{Phase: r.Phase(), Steps: int(pl.Steps), Perturbations: int(pl.Perturbations)}
	if pl.Estimator == plan.Differences && t.Phase == 1 {
		t.Steps = 1
	}
	return p.Calls(pl, &t)
}

// Corrects sets the device's control variate, if the device has one. With a control variate, the
// task does not need the scalars of a missed phase.
func (t *Task) Corrects(own wire.ControlVariate) {
	if t.Control = own; own.N > 0 {
		t.Missed = MissedPhase{}
	}
}

// sourceOf returns the source of the directions of record n for the device with a slot. group is
// the device's group in the announcement.
func (p *Prober) sourceOf(pl *plan.Plan, n uint64, slot, group uint32) uint32 {
	switch pl.Sharing {
	case plan.PerClient:
		return prng.Slot(slot)
	case plan.GroupDirections:
		if grouping.Draws(pl) {
			group = grouping.Drawn(pl, n, p.cfg.ID)
		}
		return prng.Slot(group)
	}
	return prng.Shared
}

// Task returns the work that the announcement of a round asks of the device with a slot. group is
// the device's group in the announcement. r is the device's replica. [Task.Corrects] adds the
// control variate.
func (p *Prober) Task(r *replica.Replica, a *wire.Announcement, slot, group uint32) Task {
	pl := r.Plan()
	t := Task{
		N: a.N, Phase: r.Phase(), Steps: int(pl.Steps), Perturbations: int(a.Perturbations),
		StepSize: a.StepSize, Source: p.sourceOf(pl, a.N, slot, group),
	}
	switch point := pl.Estimator == plan.Differences; {
	case point && t.Phase == 1:
		t.Steps = 1
	case point && pl.Control == plan.ScaffoldPoint:
		t.Missed = transportOf(pl).missed(p, r, t.Perturbations)
	}
	return t
}
