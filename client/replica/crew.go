package replica

import (
	"github.com/zofl/zofl/internal/parallel"
	"github.com/zofl/zofl/prng"
)

// A crew is what a replica's operations work with, one operation at a time.
//
// Invariants:
//  1. A job's tiles are whole blocks of the model, but for its first and last.
//  2. What comes of a tile depends neither on the worker that takes it nor on
//     when it does, so bits are the same for any number of workers.
type crew struct {
	team    *parallel.Team
	scratch [][]float32 // a block for each worker that has worked

	job   job
	moves []move // that wait, and their terms one after another
	terms []prng.Term

	// Tasks of the team: made once, because a new one allocates.
	moveTile, probeTile func(worker, tile int)
}

// A job is an operation on elements [start, end) of the model.
type job struct {
	start, end int
	tile       int       // how many a worker takes at a time: whole blocks
	x, m       []float32 // the iterate and its momentum

	// A probe's. Element start is plus[0], and minus[0] if there is a minus.
	plus, minus []float32
	mu          float32
	z           prng.Direction
}

// tiles returns how many tiles the job has.
func (j *job) tiles() int { return (j.end+j.tile-1)/j.tile - j.start/j.tile }

// bounds returns where a tile of the job is.
func (j *job) bounds(i int) (start, end int) {
	at := (j.start/j.tile + i) * j.tile
	return max(j.start, at), min(j.end, at+j.tile)
}

// workFor is how much work, in elements of normals, makes it worth to wake another
// thread, which takes some 10 us, or 30 us on a virtual machine.
const workFor = 32 * prng.BlockLen

// signsFor elements of a Rademacher direction take about as long as one of a
// normal.
const signsFor = 8

// teamFor returns the team for a job of so many elements of directions; nil: it
// is not worth one.
func (r *Replica) teamFor(elements uint64) *parallel.Team {
	if prng.Distribution(r.plan.Distribution) == prng.Rademacher {
		elements /= signsFor
	}
	if r.cfg.Workers < 2 || elements < workFor {
		return nil
	}
	if r.team == nil {
		r.team = parallel.New(r.cfg.Workers)
	}
	return r.team
}

// tiles lets a team do the job's tiles.
func (r *Replica) tiles(team *parallel.Team, task func(worker, tile int)) {
	r.scratchOf(team.Workers() - 1)
	team.Do(r.job.tiles(), task)
}

// scratchOf returns a worker's block. It grows before a team works, not while it does.
func (r *Replica) scratchOf(worker int) []float32 {
	for len(r.scratch) <= worker {
		r.scratch = append(r.scratch, make([]float32, min(prng.BlockLen, len(r.x))))
	}
	return r.scratch[worker]
}
