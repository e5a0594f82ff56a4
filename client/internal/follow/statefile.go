package follow

import (
	"github.com/zofl/zofl/client/internal/seal"
	"github.com/zofl/zofl/wire"
)

// snapshotSize is how long a snapshot is, about. Of a seed pool it is that after a
// rebase, which has the coefficients alone.
func (f *Follower) snapshotSize() uint64 {
	least, _ := stateSize(f.replica.Plan())
	return least + snapshotHead
}

// stateSize bounds what the vectors and registers of a plan's state take in a file.
func stateSize(plan *wire.Plan) (least, most uint64) {
	vectors := 4 * uint64(plan.Vectors()) * plan.Dim
	switch {
	case plan.Pool > 0:
		coefficients := 8 * (uint64(plan.Pool) + 1)
		return coefficients, vectors + 2*coefficients
	case plan.Estimator == wire.Surrogate:
		vectors += 8 * (1 + uint64(plan.Features))
		return vectors, vectors
	case plan.Control == wire.ScaffoldPoint:
		return vectors, vectors + 8*(wire.MaxScalars+1)
	}
	return vectors, vectors
}

// contentSize returns the length of the state file in a snapshot of size bytes; false:
// there is none of that length.
func (f *Follower) contentSize(size uint64) (uint64, bool) {
	if !f.private() {
		return size, true
	}
	return seal.PlainSize(size)
}
