package replica

import "github.com/zofl/zofl/prng"

// Estimate sets dst to the gradient estimate of local step k of record n: the mean of g z over the
// perturbations, where g are their scalars. With transport=dense a device moves its own model along
// this estimate. The bits of the estimate are the bits of v in docs/replay.md, with the factor d
// for a sphere. Estimate panics unless dst has d elements.
//
//	for i := range dst:
//		dst[i] = sum over p of (g[p]/P) * z_p[i]
func (r *Replica) Estimate(dst []float32, n uint64, k int, g []float32, source uint32) {
	if len(dst) != len(r.x) {
		panic(lengthMismatch)
	}
	for i, v := range g {
		r.addTerm(v/float32(len(g)), r.tempDirection(n, k, i, source), i == 0)
	}
	r.estimate = dst
	team := r.teamFor(r.plan.Dim * uint64(len(g)))
	r.generator.each(team, blocksOf(len(dst), prng.BlockLen), r.estimateTask)
	r.estimate = nil // dst belongs to the app
	r.terms, r.coefs = r.terms[:0], r.coefs[:0]
}

func (r *Replica) estimateBlock(_, i int) {
	r.sum(block(r.estimate, i*prng.BlockLen, prng.BlockLen), r.terms, r.coefs, r.hasBasis(), i)
}
