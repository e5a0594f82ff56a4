package replica

import (
	"github.com/zofl/zofl/client/replica/internal/layout"
	"github.com/zofl/zofl/mathx"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/wire"
)

// A pool holds the coefficients of x and m, the parameters and momentum, as sums over N fixed
// directions and the initial parameters x0:
//
//	x = a[N] x0 + S sum_s a[s] z_s,  m = b[N] x0 + sum_s b[s] z_s
//
// with S the step scales of the segments. Records change the coefficients in the order of the log,
// in float64; each product is rounded before it is added. Records move x and m as without a pool.
// Every E rounds the replica computes x and m anew from the coefficients.
type pool struct {
	a, b  []float64      // N+1 each; b is empty for a rule without momentum
	v     []float64      // gradient estimate of a step
	start []float64      // a at the start of the round, for prox
	given []float32      // x0 if the app gives x0
	seeds []plan.Segment // the segments that seed x0 otherwise
	norms []float64      // squared, for a sphere's directions; 0: not measured yet
}

func newPool(p *plan.Plan) *pool {
	n := int(p.Pool) + 1
	c := &pool{a: make([]float64, n), v: make([]float64, n), seeds: p.Layout()}
	c.a[n-1] = 1
	if p.Rule != plan.SGD {
		c.b = make([]float64, n)
	}
	if p.Distribution == plan.Sphere {
		c.norms = make([]float64, p.Pool)
	}
	return c
}

// poolIndex returns the direction of a pool of n that replaces z: the upper half of n times the
// first word of Philox4x32-10 on the counter (step<<16 | perturbation, 0, 0, "pool") under the key
// of z's record.
func poolIndex(z *prng.Direction, n uint32) uint32 {
	const pool = 0x706f6f6c
	word := prng.Philox([4]uint32{uint32(z.Step)<<16 | uint32(z.Perturbation), 0, 0, pool}, z.Key)[0]
	return uint32(uint64(word) * uint64(n) >> 32)
}

// poolPlace returns the index s of a direction that poolDirection returned.
func poolPlace(z *prng.Direction) uint32 { return uint32(z.Step)<<16 | uint32(z.Perturbation) }

// poolDirection returns direction s of the pool.
func (r *Replica) poolDirection(s uint32) prng.Direction {
	return prng.Direction{
		Key:          r.poolKey,
		Step:         uint16(s >> 16),
		Perturbation: uint16(s),
		Domain:       prng.Pool,
		Dist:         r.plan.Distribution.Elements(),
	}
}

// addPooled makes a round's local steps on the coefficients, with the round's terms in their order.
func (r *Replica) addPooled(n uint64, round *wire.Round) {
	c, p := r.pool, &r.plan
	if p.Prox != 0 {
		c.start = append(c.start[:0], c.a...)
	}
	for k := range int(p.Steps) {
		clear(c.v)
		for i := range round.Terms {
			t := &round.Terms[i]
			block := r.block(round, t, k)
			for q, g := range block {
				z := prng.Direction{
					Key: r.recordKey(n - t.Back), Step: uint16(k), Perturbation: uint16(q)}
				c.v[poolIndex(&z, p.Pool)] += float64(r.slope(g / float32(len(block))))
			}
		}
		c.step(p, round.StepSize)
	}
}

// step makes one local step on the coefficients, as Advance does on a model.
func (c *pool) step(p *plan.Plan, eta float32) {
	prox, decay, beta, rate := float64(p.Prox), float64(p.WeightDecay), float64(p.Beta), float64(eta)
	gain := 1.0
	if p.Rule == plan.Momentum {
		gain = float64(1 - p.Beta)
	}
	for s, v := range c.v {
		if prox != 0 {
			v += float64(prox * float64(c.a[s]-c.start[s]))
		}
		if decay != 0 {
			v += float64(decay * c.a[s])
		}
		if len(c.b) > 0 {
			c.b[s] = float64(beta*c.b[s]) + float64(gain*v)
			v = c.b[s]
		}
		c.a[s] -= float64(rate * v)
	}
}

// rebase computes x and m anew after every E-th round.
func (r *Replica) rebase() {
	if r.rounds%uint64(r.plan.Rebase) != 0 {
		return
	}
	r.flush()
	r.expand()
}

// expand computes x and m from the coefficients.
func (r *Replica) expand() {
	r.allocateScratch()
	r.measurePool()
	r.teamFor(r.plan.Dim*uint64(r.plan.Pool)).Do(blocksOf(len(r.x), prng.BlockLen), r.expandTask)
}

// measurePool computes the norms of all directions of a sphere's pool.
func (r *Replica) measurePool() {
	if r.plan.Distribution != plan.Sphere {
		return
	}
	r.wanted = r.wanted[:0]
	for s := range r.plan.Pool {
		r.wantNorm(r.poolDirection(s))
	}
	r.measureNorms()
}

func (r *Replica) expandBlock(worker, i int) {
	x, m := block(r.x, i*prng.BlockLen, prng.BlockLen), block(r.m, i*prng.BlockLen, prng.BlockLen)
	s := r.scratch[worker].of(len(x))
	r.firstBlock(s.start, i)
	r.combine(s.v, r.pool.a, i)
	mathx.Scale(x, float32(r.pool.a[r.plan.Pool]), s.start)
	r.segments.Each(i*prng.BlockLen, len(x), func(lo, hi int, span layout.Span) {
		mathx.Axpy(x[lo:hi], span.Step, s.v[lo:hi])
	})
	if len(m) > 0 {
		r.combine(s.v, r.pool.b, i)
		mathx.Scale(m, float32(r.pool.b[r.plan.Pool]), s.start)
		mathx.Axpy(m, 1, s.v)
	}
}

// combine sets v to block i of the sum of coefficients times directions.
func (r *Replica) combine(v []float32, coefficients []float64, i int) {
	clear(v)
	var terms [poolTerms]prng.Term
	n := int(r.plan.Pool)
	for s := 0; s < n; s += poolTerms {
		part := terms[:min(poolTerms, n-s)]
		for j := range part {
			a := float32(coefficients[s+j])
			if len(r.pool.norms) > 0 {
				a = prng.SphereScale(a, r.pool.norms[s+j])
			}
			part[j] = prng.Term{A: a, Z: r.poolDirection(uint32(s + j))}
		}
		prng.Sum(v, part, uint32(i))
	}
}

// poolTerms is how many terms combine sums at a time: a multiple of the number of terms that
// prng.Sum adds together for Rademacher directions.
const poolTerms = 64

// firstBlock sets dst to block i of the initial parameters.
func (r *Replica) firstBlock(dst []float32, i int) {
	at := i * prng.BlockLen
	if r.plan.Initial == plan.Given {
		copy(dst, r.pool.given[at:])
		return
	}
	clear(dst)
	start := 0
	for j := range r.pool.seeds {
		s := &r.pool.seeds[j]
		end := start + int(s.Len)
		lo, hi := max(start, at), min(end, at+len(dst))
		if lo < hi {
			layout.Seed(dst[lo-at:hi-at], lo, r.poolKey, s)
		}
		start = end
	}
}
