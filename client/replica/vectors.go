package replica

import (
	"slices"

	"github.com/zofl/zofl/client/replica/internal/layout"
	"github.com/zofl/zofl/client/replica/internal/server"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/prng"
)

// allocate makes the state of a plan around its parameters; everything else starts at zero. For a
// pool and given parameters, x holds the given ones.
func (r *Replica) allocate(p *plan.Plan, runKey []byte, x []float32) {
	r.plan, r.x, r.segments, r.runKey, r.keys = *p, x, layout.Of(p), runKey, prng.NewKeyring(runKey)
	r.transport, r.generator = transportOf(p), seeded
	if p.Distribution == plan.LowRank {
		r.factors = newFactors(p, &r.crew)
		r.generator, r.moveTask = r.factors.generator(), r.moveFactored
	}
	vector := func(wanted bool) []float32 {
		if !wanted {
			return nil
		}
		return make([]float32, len(x))
	}
	r.m = vector(p.Rule != plan.SGD && !r.dense())
	r.control = vector(p.Control == plan.ScaffoldMean || p.Control != plan.NoControl && r.dense())
	if p.Estimator == plan.Surrogate {
		r.w = make([]float32, p.Features)
	}
	r.server, r.running = server.New(p), server.NewRunning()
	for range p.SubspaceMoves {
		r.basis, r.trail = append(r.basis, vector(true)), append(r.trail, vector(true))
	}
	r.columns = make([][]float32, len(r.trail))
	if p.ServerRule == plan.ServerCMA {
		r.evolve()
	}
	if p.SubspaceMoves > 0 {
		r.afterRound = append(r.afterRound, r.updateBasis)
	}
	if p.Pool > 0 {
		r.afterRound = append(r.afterRound, r.rebase)
		r.pool, r.poolKey = newPool(p), r.keys.Key(0)
		if p.Initial == plan.Given {
			r.pool.given = slices.Clone(x)
		}
	}
}

// vectors returns the vectors of the state in the order of its digest: x, m, S or c, the
// server rule's m, v and largest v, the basis, the trail; with cma the unfolded x, the path, the
// rows.
func (r *Replica) vectors() [][]float32 {
	vectors := [][]float32{r.x}
	for _, v := range [][]float32{r.m, r.control} {
		if len(v) > 0 {
			vectors = append(vectors, v)
		}
	}
	return slices.Concat(vectors, r.server.Vectors(), r.basis, r.trail, r.learned)
}
