package replica

import (
	"math"

	"github.com/zofl/zofl/prng"
)

// Features returns the random features of a surrogate (FZooS appendix D). All devices draw the same
// features from the run key. v has M rows of d standard normals, before division by the length
// scale l. b has M phases in [0, 2 pi]. Feature j of x, in the coordinates of the boxes, is
//
//	sqrt(2/M) cos(v[j*d:(j+1)*d] . x / l + b[j])
//
// Each call allocates v and b.
func (r *Replica) Features() (v []float32, b []float64) {
	z := prng.Direction{Key: r.keys.Key(0), Domain: prng.Features, Dist: prng.Normal}
	v = make([]float32, uint64(r.plan.Features)*r.plan.Dim)
	prng.Fill(v, z, 0)
	z.Perturbation = 1
	u := make([]float32, r.plan.Features)
	prng.Uniform(u, z, 0)
	b = make([]float64, len(u))
	for i, v := range u {
		b[i] = math.Pi * (1 + float64(v))
	}
	return v, b
}
