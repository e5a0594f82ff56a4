package replica

import (
	"sync"

	"github.com/zofl/zofl/internal/parallel"
	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/wire"
)

// A crew is what a replica's operations work with. What comes of a block depends
// neither on the worker that takes it nor on when it does, so bits are the same for
// any number of workers.
type crew struct {
	busy sync.Mutex // held by the probe that has the team; moves have it to themselves
	team *parallel.Team

	// What is shared out.
	shared probe
	spread spread

	aiming              Direction   // that a term or Probe is along
	moves               []move      // that wait; none but within Apply and ApplyAll
	terms               []prng.Term // of the moves, one after another
	spans               []float32   // their coefficients in the subspace: of each step those of all columns
	scratch             []scratch   // of each worker
	equipped, needsBase bool

	wanted []norm // that are being measured
	norms  map[prng.Direction]float64

	correcting move // whose correction is made
	correction []float32

	estimate []float32 // that is made

	columns [][]float32 // of the trail, newest first
	grams   []float64   // of its blocks

	// Tasks of the team: made once, because a new one allocates.
	moveTask, probeTask, spreadTask, normTask, gramTask, basisTask, correctTask, expandTask, estimateTask func(worker, i int)
}

// recruit makes the team and its tasks.
func (r *Replica) recruit() {
	r.team = parallel.New(r.cfg.Workers)
	r.moveTask, r.probeTask, r.spreadTask, r.normTask = r.moveBlock, r.probeOne, r.spreadOne, r.normOne
	r.gramTask, r.basisTask, r.correctTask, r.expandTask = r.gramBlock, r.basisBlock, r.correctBlock, r.expandBlock
	r.estimateTask = r.estimateBlock
}

// workFor is how much work, in elements of normals, makes it worth to wake another
// thread, which takes some 10 us, or 30 us on a virtual machine.
const workFor = 32 * prng.BlockLen

// signsFor elements of a Rademacher direction take about as long as one of a
// normal.
const signsFor = 8

// teamFor returns the team for so many elements of directions; nil: it is not
// worth one.
func (r *Replica) teamFor(elements uint64) *parallel.Team {
	if r.plan.Distribution == wire.Rademacher {
		elements /= signsFor
	}
	if elements < workFor {
		return nil
	}
	return r.team
}
