package replica

import (
	"sync"

	"github.com/zofl/zofl/internal/parallel"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/prng"
)

// A crew is the worker team and scratch memory of a replica's operations. The result for a block
// does not depend on the worker that computes it or on the time, so the bits are the same for any
// number of workers.
type crew struct {
	busy sync.Mutex // a probe that uses the team holds it; no move runs during a probe
	team *parallel.Team

	// The job of the team at present.
	probeJob  probe
	spreadJob spread

	tempZ                 Direction   // of the term or probe being made
	moves                 []move      // pending moves; empty outside Apply, ApplyAll and Advance
	terms                 []prng.Term // of the pending moves, in order
	coefs                 []float32   // subspace coefficients of terms: for each step one per column
	scratch               []scratch   // one per worker
	hasScratch, needsBase bool

	values []float32 // scalars being decoded

	wanted []norm // squared norms to be measured
	norms  map[prng.Direction]float64

	correctionMove move // the move whose correction Correct computes
	correction     []float32

	estimate []float32 // destination of Estimate
	products []float64 // of Slope: two for each block

	columns [][]float32 // columns of the trail, newest first
	grams   []float64   // Gram matrices of the blocks of columns

	// Tasks of the team, created once because a new method value allocates.
	moveTask, probeTask, spreadTask, normTask, gramTask, basisTask, correctTask, expandTask,
	estimateTask, slopeTask func(worker, i int)
}

// makeTeam creates the team and its tasks.
func (r *Replica) makeTeam() {
	r.team = parallel.New(r.cfg.Workers)
	r.moveTask, r.probeTask, r.spreadTask, r.normTask = r.moveBlock, r.probeOne, r.spreadOne, r.normOne
	r.gramTask, r.basisTask, r.correctTask, r.expandTask = r.gramBlock, r.basisBlock,
		r.correctBlock, r.expandBlock
	r.estimateTask, r.slopeTask = r.estimateBlock, r.slopeBlock
}

// workFor is the least work, in normal elements, for which waking another thread saves time. Waking
// a thread takes about 10 us, on a virtual machine 30 us.
const workFor = 32 * prng.BlockLen

// signsFor Rademacher elements take about as long as one normal element.
const signsFor = 8

// teamFor returns the team for this many direction elements, or nil if the elements are too few to
// divide among workers.
func (r *Replica) teamFor(elements uint64) *parallel.Team {
	switch r.plan.Distribution {
	case plan.Rademacher, plan.LowRank:
		elements /= signsFor
	}
	if elements < workFor {
		return nil
	}
	return r.team
}
