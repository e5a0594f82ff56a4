package replica

import (
	"math"
	"slices"

	"github.com/zofl/zofl/client/replica/internal/digest"
	"github.com/zofl/zofl/plan"
)

// hasRegisters reports whether the plan's state has registers at any time.
func hasRegisters(p *plan.Plan) bool {
	return p.Control != plan.NoControl || p.Pool > 0 || p.Estimator == plan.Surrogate ||
		p.ServerRule == plan.ServerNormalized || p.ServerRule == plan.ServerCMA
}

// registers returns the numbers of the state that no vector holds, in the order of its digest, any
// NaN canonical:
//   - Surrogate: the pending phase-1 record or 0, then the bits of w.
//   - ScaffoldMean: N, except with transport=dense.
//   - ScaffoldPoint, SVRG between their phases: the phase-1 record, then the bits of its scalars.
//   - Pool: the bits of the coefficients a, then the bits of b.
//   - ServerNormalized: the bits of V, p1 and p2.
//   - ServerCMA: the bits of sigma; with a limited covariance, the number of records.
func (r *Replica) registers() []uint64 {
	switch {
	case r.plan.Estimator == plan.Surrogate:
		return appendBits([]uint64{r.pending.n}, r.w)
	case r.plan.Control == plan.ScaffoldMean && !r.dense():
		return []uint64{uint64(r.population)}
	case r.pending.n > 0:
		return appendBits([]uint64{r.pending.n}, r.pending.scalars)
	case r.pool != nil:
		list := make([]uint64, 0, len(r.pool.a)+len(r.pool.b))
		for _, part := range [][]float64{r.pool.a, r.pool.b} {
			for _, v := range part {
				list = append(list, digest.Bits64(v))
			}
		}
		return list
	case r.normalizes():
		n := &r.running
		return []uint64{digest.Bits64(n.V), digest.Bits64(n.P1), digest.Bits64(n.P2)}
	case r.evolution != nil:
		return r.evolutionRegisters()
	}
	return nil
}

// appendBits appends the bits of each element of v.
func appendBits(list []uint64, v []float32) []uint64 {
	list = slices.Grow(list, len(v))
	for _, e := range v {
		list = append(list, uint64(digest.Bits(e)))
	}
	return list
}

// canHave reports whether a state of the plan can have this many registers.
func canHave(p *plan.Plan, registers int) bool {
	_, dense := transportOf(p).(denseTransport)
	switch {
	case p.Estimator == plan.Surrogate:
		return registers == 1+int(p.Features)
	case dense:
		return registers == 0 || registers == 1 && p.Phases() == 2
	case p.Control == plan.ScaffoldMean:
		return registers == 1
	case p.Phases() == 2:
		return registers == 0 || registers >= 2 && registers <= 1+plan.MaxScalars
	case p.Pool > 0 && p.Rule == plan.SGD:
		return registers == int(p.Pool)+1
	case p.Pool > 0:
		return registers == 2*(int(p.Pool)+1)
	case p.ServerRule == plan.ServerNormalized:
		return registers == 3
	case p.ServerRule == plan.ServerCMA:
		return registers == 1+int(p.Covariance)
	}
	return registers == 0
}

// restore sets the registers to list, whose length canHave accepted. restore returns false for
// values that a state of the plan cannot have.
func (r *Replica) restore(list []uint64) bool {
	switch {
	case r.plan.Estimator == plan.Surrogate:
		r.pending.n = list[0]
		for i, bits := range list[1:] {
			r.w[i] = math.Float32frombits(uint32(bits))
		}
		return list[0] != 1 && list[0] <= r.n
	case r.plan.Control == plan.ScaffoldMean && len(list) > 0:
		r.population = uint32(min(list[0], math.MaxUint32))
		return list[0] <= plan.MaxMembers
	case r.plan.Phases() == 2 && len(list) > 0:
		r.pending.n = list[0]
		for _, bits := range list[1:] {
			r.pending.scalars = append(r.pending.scalars, math.Float32frombits(uint32(bits)))
		}
		return list[0] >= 2 && list[0] <= r.n
	case r.pool != nil:
		n := copyFloats(r.pool.a, list)
		copyFloats(r.pool.b, list[n:])
	case r.normalizes():
		n := &r.running
		n.V, n.P1, n.P2 = math.Float64frombits(list[0]), math.Float64frombits(list[1]),
			math.Float64frombits(list[2])
		return n.Can()
	case r.evolution != nil:
		return r.restoreEvolution(list)
	}
	return true
}

// copyFloats sets dst from bits, and returns how many elements it set.
func copyFloats(dst []float64, bits []uint64) int {
	for i := range dst {
		dst[i] = math.Float64frombits(bits[i])
	}
	return len(dst)
}
