package replica

import (
	"encoding/binary"
	"math"

	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/wire"
)

// allocate makes the state of a plan around its parameters, all else zero.
func (r *Replica) allocate(p *wire.Plan, runKey []byte, x []float32) {
	r.plan, r.x, r.segments, r.runKey, r.keys = *p, x, layout(p), runKey, prng.NewKeyring(runKey)
	vector := func(wanted bool) []float32 {
		if !wanted {
			return nil
		}
		return make([]float32, len(x))
	}
	r.m = vector(p.Rule != wire.SGD)
	r.control = vector(p.Control == wire.ScaffoldMean)
	r.moment = vector(p.ServerRule.Moments() > 0)
	r.second = vector(p.ServerRule.Moments() > 1)
	r.peak = vector(p.ServerRule.Moments() > 2)
	for range p.SubspaceMoves {
		r.basis, r.trail = append(r.basis, vector(true)), append(r.trail, vector(true))
	}
	r.columns = make([][]float32, len(r.trail))
	if p.Pool > 0 {
		r.pool, r.poolKey = newPool(p), r.keys.Key(0)
		if p.Initial == wire.Given {
			r.pool.given = append([]float32(nil), r.cfg.Initial...)
		}
	}
}

// vectors are those that make the state, in the order of its digest: x, m, S, the
// server rule's m, v and largest v, the basis, the trail.
func (r *Replica) vectors() [][]float32 {
	vectors := [][]float32{r.x}
	for _, v := range [][]float32{r.m, r.control, r.moment, r.second, r.peak} {
		if len(v) > 0 {
			vectors = append(vectors, v)
		}
	}
	return append(append(vectors, r.basis...), r.trail...)
}

// registers are the numbers that make the state besides, in the order of its digest:
// of ScaffoldMean N; of ScaffoldPoint between its phases the record of the first, then
// the bits of its scalars; of a pool the bits of a, then of b.
func (r *Replica) registers() []uint64 {
	var list []uint64
	if r.plan.Control == wire.ScaffoldMean {
		list = append(list, uint64(r.population))
	}
	if r.pending.n > 0 {
		list = append(list, r.pending.n)
		for _, v := range r.pending.scalars {
			list = append(list, uint64(math.Float32bits(v)))
		}
	}
	if r.pool != nil {
		for _, v := range r.pool.a {
			list = append(list, math.Float64bits(v))
		}
		for _, v := range r.pool.b {
			list = append(list, math.Float64bits(v))
		}
	}
	return list
}

// restore sets what registers returned, false for a list that it cannot have.
func (r *Replica) restore(list []uint64) bool {
	if r.plan.Control == wire.ScaffoldMean {
		if len(list) != 1 || list[0] > wire.MaxMembers {
			return false
		}
		r.population, list = uint32(list[0]), nil
	}
	if r.plan.Control == wire.ScaffoldPoint && len(list) > 0 {
		if len(list) < 2 || len(list)-1 > wire.MaxScalars || list[0] > r.n || list[0] < 2 {
			return false
		}
		r.pending.n = list[0]
		for _, bits := range list[1:] {
			if bits > math.MaxUint32 {
				return false
			}
			r.pending.scalars = append(r.pending.scalars, math.Float32frombits(uint32(bits)))
		}
		list = nil
	}
	if c := r.pool; c != nil {
		if len(list) != len(c.a)+len(c.b) {
			return false
		}
		for i := range c.a {
			c.a[i] = math.Float64frombits(list[i])
		}
		for i := range c.b {
			c.b[i] = math.Float64frombits(list[len(c.a)+i])
		}
		list = nil
	}
	return len(list) == 0
}

// appendRegisters appends LE32 of their number and LE64 of each.
func appendRegisters(b []byte, list []uint64) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(len(list)))
	for _, v := range list {
		b = binary.LittleEndian.AppendUint64(b, v)
	}
	return b
}

// hasRegisters says whether a plan's state has any, at one time or other.
func hasRegisters(p *wire.Plan) bool {
	return p.Control != wire.NoControl || p.Pool > 0
}
