package replica

import "github.com/zofl/zofl/prng"

// A norm is of a direction.
type norm struct {
	z       prng.Direction
	squared float64
}

// manyNorms are forgotten before the next round, as most directions are never
// met again.
const manyNorms = 4096

// forget makes room for the norms of a round.
func (r *Replica) forget() {
	if len(r.norms) > manyNorms {
		clear(r.norms)
	}
}

// squaredNorm returns the squared norm of z, which it remembers.
func (r *Replica) squaredNorm(z prng.Direction) float64 {
	if squared, ok := r.measured(&z); ok {
		return squared
	}
	squared := prng.SquaredNorm(z, r.plan.Dim)
	r.remember(&z, squared)
	return squared
}

// measured returns a squared norm that is remembered; those of a pool always are.
func (r *Replica) measured(z *prng.Direction) (squared float64, ok bool) {
	if r.pool != nil {
		squared = r.pool.norms[poolPlace(z)]
		return squared, squared > 0
	}
	squared, ok = r.norms[*z]
	return squared, ok
}

func (r *Replica) remember(z *prng.Direction, squared float64) {
	if r.pool != nil {
		r.pool.norms[poolPlace(z)] = squared
		return
	}
	if r.norms == nil {
		r.norms = make(map[prng.Direction]float64)
	}
	r.norms[*z] = squared
}

// want notes a direction whose norm is not known, for measure.
func (r *Replica) want(z prng.Direction) {
	if _, ok := r.measured(&z); !ok {
		r.wanted = append(r.wanted, norm{z: z})
	}
}

// measure learns the norms that are wanted.
func (r *Replica) measure() {
	r.teamFor(r.plan.Dim*uint64(len(r.wanted))).Do(len(r.wanted), r.normTask)
	for i := range r.wanted {
		r.remember(&r.wanted[i].z, r.wanted[i].squared)
	}
	r.wanted = r.wanted[:0]
}

// normOne measures one.
func (r *Replica) normOne(_, i int) {
	r.wanted[i].squared = prng.SquaredNorm(r.wanted[i].z, r.plan.Dim)
}
