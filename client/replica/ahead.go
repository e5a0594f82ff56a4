package replica

import (
	"math"
	"slices"

	"github.com/zofl/zofl/client/replica/internal/layout"
	"github.com/zofl/zofl/prng"
)

// Ahead writes elements off, off+1, ... of x - a w to dst, clipped to their boxes. x are the
// parameters, and w is the move of a step of 1 along m, the momentum of server_rule=normalized:
//
//	x[i] - float32(rate*m[i]), rate = float32(a*scale*inverse)
//
// scale is the segment's StepScale; inverse is the factor of m in the last round's step, without
// step size and scale: 1/((1-p1) sqrt(V^)). Without momentum, or with a = 0, Ahead writes x,
// clipped. Several goroutines may call Ahead at once, as with [Replica.Perturb].
func (r *Replica) Ahead(dst []float32, off int, a float32) {
	copy(dst, r.x[off:])
	inverse := r.running.Inverse()
	if r.normalizes() && inverse > 0 && a != 0 {
		m := r.server.Moment[off:]
		r.segments.Each(off, len(dst), func(lo, hi int, s layout.Span) {
			rate := float32(float64(a) * float64(s.Step) * inverse)
			for i := lo; i < hi; i++ {
				dst[i] -= float32(rate * m[i])
			}
		})
	}
	r.Clip(dst, off)
}

// Slope returns the slope of the loss along m, the momentum of server_rule=normalized, estimated
// from a device's own scalars g of record n. Slope returns 0 without momentum, or if the slope is
// no finite float32:
//
//	<v, m>/|m|, v = sum over p of (g[p]/P) * z_p
//
// v is [Replica.Estimate] of step 0. Slope generates each direction once.
func (r *Replica) Slope(n uint64, g []float32, source uint32) float32 {
	if !r.normalizes() {
		return 0
	}
	for i, v := range g {
		r.addTerm(v/float32(len(g)), r.tempDirection(n, 0, i, source), i == 0)
	}
	r.allocateScratch()
	blocks := blocksOf(len(r.x), prng.BlockLen)
	r.products = slices.Grow(r.products[:0], 2*blocks)[:2*blocks]
	r.generator.each(r.teamFor(r.plan.Dim*uint64(len(g))), blocks, r.slopeTask)
	r.terms, r.coefs = r.terms[:0], r.coefs[:0]
	along, square := 0.0, 0.0
	for i := 0; i < len(r.products); i += 2 {
		along, square = along+r.products[i], square+r.products[i+1]
	}
	if v := float32(along / math.Sqrt(square)); square > 0 && v-v == 0 {
		return v
	}
	return 0
}

// slopeBlock computes a block's part of <v, m> and |m|^2.
func (r *Replica) slopeBlock(worker, i int) {
	m := block(r.server.Moment, i*prng.BlockLen, prng.BlockLen)
	v := r.scratch[worker].of(len(m)).v
	r.sum(v, r.terms, r.coefs, false, i)
	along, square := 0.0, 0.0
	for j, e := range m {
		along += float64(float64(v[j]) * float64(e)) // same bits on every CPU
		square += float64(float64(e) * float64(e))
	}
	r.products[2*i], r.products[2*i+1] = along, square
}
