package probe

import (
	"errors"

	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/wire"
)

// What a device says once that contributes to a run under way without what it found in
// earlier rounds: it came late, or lost its store.
var (
	ErrNoTrajectory = errors.New(
		"trajectory lost, or none yet in a run under way: contributing from new points")
	ErrNoVariate = errors.New(
		"control variate lost, or none yet in a run under way: contributing without a correction")
)

// A Memory is what a device found in earlier rounds with transport=dense, and needs in
// later ones.
type Memory struct {
	plan       wire.Hash   // of record 1, whose plan own and trajectory are of; 0: of none
	own        ownVector   // c_i or w_i
	trajectory *trajectory // of a surrogate
	warned     bool        // Lost was asked
}

// An ownVector is a vector that a device found, and that the others have the mean of.
type ownVector struct {
	n       uint64 // index of the record that it was found for; 0: there is none
	v       []float32
	unsaved bool
}

// put replaces the vector by a copy of v.
func (o *ownVector) put(n uint64, v []float32) {
	o.v = append(o.v[:0], v...)
	o.n, o.unsaved = n, true
}

// Forget has the next Prepare begin anew, with what the store has.
func (m *Memory) Forget() { m.plan = wire.Hash{} }

// Plan is the hash of record 1 whose plan the memory is of; 0 for none.
func (m *Memory) Plan() wire.Hash { return m.plan }

// Prepare readies the memory for rounds of a replica's plan. begun says that it was of
// another plan, and holds nothing now: it may be loaded.
func (p *Prober) Prepare(r *replica.Replica) (begun bool) {
	plan := wire.HashRecord(r.First())
	if p.memory.plan == plan {
		return false
	}
	p.memory = Memory{plan: plan}
	if r.Plan().Estimator == wire.Surrogate {
		p.memory.trajectory = newTrajectory(r, p.dim, p.cfg.Workers)
	}
	return true
}

// Lost says once what the device lacks in a run that is under way: [ErrNoTrajectory] or
// [ErrNoVariate].
func (p *Prober) Lost(r *replica.Replica) error {
	m, plan := &p.memory, r.Plan()
	if m.warned {
		return nil
	}
	m.warned = true
	switch {
	case plan.Estimator == wire.Surrogate:
		t := m.trajectory
		if t.process.Len() == 0 && len(t.stored.y) == 0 && !allZero(r.Weights()) {
			return ErrNoTrajectory
		}
	case plan.Control == wire.ScaffoldMean:
		if m.own.n == 0 && !allZero(r.Control()) {
			return ErrNoVariate
		}
	}
	return nil
}
