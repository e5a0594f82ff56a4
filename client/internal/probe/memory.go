package probe

import (
	"errors"

	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// These errors warn of a device that contributes to a run under way without the numbers of earlier
// rounds, because the device came late or lost its store.
var (
	ErrNoTrajectory = errors.New(
		"no trajectory in a run under way, new or lost: contributing from new points")
	ErrNoVariate = errors.New(
		"no control variate in a run under way, new or lost: contributing without a correction")
)

// A Memory holds what a device computed in earlier rounds and needs in later rounds, with
// transport=dense.
type Memory struct {
	plan       wire.Hash   // of record 1, with the memory's plan; 0: none
	own        ownVector   // c_i or w_i
	trajectory *trajectory // with a surrogate
	warned     bool        // Lost was called
}

// An ownVector is a vector that this device computed. The log has the mean of all devices' vectors.
type ownVector struct {
	n       uint64 // index of the record of the vector; 0: there is no vector
	v       []float32
	unsaved bool
}

// put replaces the vector with a copy of v.
func (o *ownVector) put(n uint64, v []float32) {
	o.v = append(o.v[:0], v...)
	o.n, o.unsaved = n, true
}

// Variate is the record for which the device computed its control variate or its surrogate's
// weights; 0: the device has none.
func (m *Memory) Variate() uint64 { return m.own.n }

// Recall takes c_i from a vector, float32 little-endian, that the device computed for record n with
// control=scaffold-2. c_i is the second half of the vector. Recall ignores a vector of another
// length.
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

// Forget makes the next Prepare empty the memory, so that the device loads it from the store again.
func (m *Memory) Forget() { m.plan = wire.Hash{} }

// Plan is the hash of record 1, which has the memory's plan; 0: none.
func (m *Memory) Plan() wire.Hash { return m.plan }

// Prepare readies the memory for rounds of a replica's plan. begun says that the memory belonged to
// another plan, and that Prepare emptied it for Load.
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

// Lost reports what the device lacks in a run that is under way: [ErrNoTrajectory] or
// [ErrNoVariate]. Lost reports only once.
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
