package follow

import (
	"github.com/zofl/zofl/client/internal/seal"
	"github.com/zofl/zofl/plan"
)

// snapshotSize estimates the length of a snapshot in bytes. With a seed pool, the estimate is the
// length after a rebase: then the state consists of the coefficients alone.
func (f *Follower) snapshotSize() uint64 {
	least, _ := stateSize(f.replica.Plan())
	return least + snapshotHead
}

// stateSize bounds the bytes of the vectors and registers in a plan's state file.
func stateSize(p *plan.Plan) (least, most uint64) {
	vectors := 4 * uint64(p.StateVectors()) * p.Dim
	switch {
	case p.Pool > 0:
		coefficients := 8 * (uint64(p.Pool) + 1)
		return coefficients, vectors + 2*coefficients
	case p.Estimator == plan.Surrogate:
		vectors += 8 * (1 + uint64(p.Features))
		return vectors, vectors
	case p.Phases() == 2:
		return vectors, vectors + 8*(plan.MaxScalars+1)
	}
	return vectors, vectors
}

// contentSize returns the length of the state file in a snapshot of size bytes. In a private run
// the snapshot is encrypted. The second result is false if no snapshot has that length.
func (f *Follower) contentSize(size uint64) (uint64, bool) {
	if !f.private() {
		return size, true
	}
	return seal.PlainSize(size)
}
