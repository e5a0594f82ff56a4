package follow

import (
	"github.com/zofl/zofl/client/internal/seal"
	"github.com/zofl/zofl/wire"
)

// snapshotSize estimates the length of a snapshot in bytes. With a seed pool it is the length
// after a rebase, when the state is the coefficients alone.
func (f *Follower) snapshotSize() uint64 {
	least, _ := stateSize(f.replica.Plan())
	return least + snapshotHead
}

// stateSize bounds the bytes of the vectors and registers in a plan's state file.
func stateSize(plan *wire.Plan) (least, most uint64) {
	vectors := 4 * uint64(plan.StateVectors()) * plan.Dim
	switch {
	case plan.Pool > 0:
		coefficients := 8 * (uint64(plan.Pool) + 1)
		return coefficients, vectors + 2*coefficients
	case plan.Estimator == wire.Surrogate:
		vectors += 8 * (1 + uint64(plan.Features))
		return vectors, vectors
	case plan.Phases() == 2:
		return vectors, vectors + 8*(wire.MaxScalars+1)
	}
	return vectors, vectors
}

// contentSize returns the length of the state file in a snapshot of size bytes, which is sealed in
// a private run; false: no snapshot has that length.
func (f *Follower) contentSize(size uint64) (uint64, bool) {
	if !f.private() {
		return size, true
	}
	return seal.PlainSize(size)
}
