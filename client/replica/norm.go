package replica

import "github.com/zofl/zofl/prng"

// A norm is the squared norm of a direction.
type norm struct {
	z       prng.Direction
	squared float64
}

// manyNorms is the number of norms beyond which the replica forgets all norms before the next
// round: most directions never occur again.
const manyNorms = 4096

// trimNorms makes room for the norms of a round.
func (r *Replica) trimNorms() {
	if len(r.norms) > manyNorms {
		clear(r.norms)
	}
}

// squaredNorm returns the squared norm of z, and remembers the norm.
func (r *Replica) squaredNorm(z prng.Direction) float64 {
	if squared, ok := r.knownNorm(&z); ok {
		return squared
	}
	squared := prng.SquaredNorm(z, r.plan.Dim)
	r.remember(&z, squared)
	return squared
}

// knownNorm returns a remembered squared norm. A replica never forgets the norms of a pool.
func (r *Replica) knownNorm(z *prng.Direction) (squared float64, ok bool) {
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

// wantNorm adds z to the norms that measureNorms computes, unless its norm is known.
func (r *Replica) wantNorm(z prng.Direction) {
	if _, ok := r.knownNorm(&z); !ok {
		r.wanted = append(r.wanted, norm{z: z})
	}
}

// measureNorms computes the norms of r.wanted.
func (r *Replica) measureNorms() {
	r.teamFor(r.plan.Dim*uint64(len(r.wanted))).Do(len(r.wanted), r.normTask)
	for i := range r.wanted {
		r.remember(&r.wanted[i].z, r.wanted[i].squared)
	}
	r.wanted = r.wanted[:0]
}

// normOne computes one norm.
func (r *Replica) normOne(_, i int) {
	r.wanted[i].squared = prng.SquaredNorm(r.wanted[i].z, r.plan.Dim)
}
