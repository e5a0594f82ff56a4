package replica

import "github.com/zofl/zofl/prng"

// Estimate sets dst, of d elements, to the estimate of a local step that a device of a
// dense run moves along by itself: the mean of g z over the perturbations of local step
// k of record n, g being their scalars. Its bits are those of v in the package doc; so
// a sphere's has its factor d. It panics unless dst has d elements.
//
//	for i := range dst:
//		dst[i] = sum over p of (g[p]/P) * z_p[i]
func (r *Replica) Estimate(dst []float32, n uint64, k int, g []float32, source uint32) {
	if len(dst) != len(r.x) {
		panic(lengthMismatch)
	}
	for i, v := range g {
		r.addTerm(v/float32(len(g)), r.aimed(n, k, i, source), i == 0)
	}
	r.estimate = dst
	r.teamFor(r.plan.Dim*uint64(len(g))).Do(blocksOf(len(dst)), r.estimateTask)
	r.estimate = nil // it is the app's
	r.terms, r.spans = r.terms[:0], r.spans[:0]
}

func (r *Replica) estimateBlock(_, i int) {
	r.sum(block(r.estimate, i*prng.BlockLen), r.terms, r.spans, r.spanned(), i)
}
