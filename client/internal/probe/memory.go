package probe

import (
	"errors"

	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// Warnings of a device that contributes to a run under way without the numbers of earlier rounds,
// because it came late or lost its store.
var (
	ErrNoTrajectory = errors.New(
		"no trajectory in a run under way, new or lost: contributing from new points")
	ErrNoVariate = errors.New(
		"no control variate in a run under way, new or lost: contributing without a correction")
)

// A Memory holds what a device with transport=dense found in earlier rounds and needs in later
// ones.
type Memory struct {
	plan       wire.Hash   // of record 1: the plan that the memory belongs to; 0: none
	own        ownVector   // c_i or w_i
	trajectory *trajectory // with a surrogate
	warned     bool        // Lost was called
}

// An ownVector is a vector that this device computed. The log has the mean of it over devices.
type ownVector struct {
	n       uint64 // index of the record that it was computed for; 0: there is none
	v       []float32
	unsaved bool
}

// put replaces the vector with a copy of v.
func (o *ownVector) put(n uint64, v []float32) {
	o.v = append(o.v[:0], v...)
	o.n, o.unsaved = n, true
}

// Variate is the record for which the device computed its control variate, or its weights; 0:
// there are none.
func (m *Memory) Variate() uint64 { return m.own.n }

// Recall takes c_i, the second half of the vector that the device computed for record n with
// control=scaffold-2, float32 little-endian. It takes nothing from a vector of another length.
func (m *Memory) Recall(n uint64, vector []byte, plan *plan.Plan) {
	if uint64(len(vector)) != 8*plan.Dim {
		return
	}
	v := wire.Scalars(vector[4*plan.Dim:])
	own := make([]float32, plan.Dim)
	for i := range own {
		own[i] = v.At(i)
	}
	m.own.put(n, own)
}

// Forget makes the next Prepare begin anew, so that the memory is loaded from the store.
func (m *Memory) Forget() { m.plan = wire.Hash{} }

// Plan is the hash of record 1, whose plan the memory belongs to; 0: none.
func (m *Memory) Plan() wire.Hash { return m.plan }

// Prepare readies the memory for rounds of a replica's plan. begun says that it belonged to another
// plan and is empty now, ready for Load.
func (p *Prober) Prepare(r *replica.Replica) (begun bool) {
	pl := wire.HashRecord(r.PlanRecord())
	if p.memory.plan == pl {
		return false
	}
	p.memory = Memory{plan: pl}
	if r.Plan().Estimator == plan.Surrogate {
		p.memory.trajectory = newTrajectory(r, p.dim, p.cfg.Workers)
	}
	return true
}

// Lost reports, once, what the device lacks in a run that is under way: [ErrNoTrajectory] or
// [ErrNoVariate].
func (p *Prober) Lost(r *replica.Replica) error {
	m, pl := &p.memory, r.Plan()
	if m.warned {
		return nil
	}
	m.warned = true
	switch {
	case pl.Estimator == plan.Surrogate:
		t := m.trajectory
		if t.process.Len() == 0 && len(t.stored.y) == 0 && !allZero(r.Weights()) {
			return ErrNoTrajectory
		}
	case pl.Control == plan.ScaffoldMean:
		if m.own.n == 0 && !allZero(r.Control()) {
			return ErrNoVariate
		}
	}
	return nil
}
