package replica

import "github.com/zofl/zofl/prng"

// Probe writes elements off, off+1, ... of x + mu*S z to dst, for z of record
// n, local step k, perturbation p; S scales each segment by its MuScale. x is
// the whole iterate and stays as it is; dst may not overlap it. A negative mu
// gives the other side of a central difference.
func (r *Replica) Probe(dst, x []float32, off int, mu float32, n uint64, k, p int) {
	z := r.Direction(n, k, p)
	if len(r.spans) == 1 && off%prng.BlockLen == 0 {
		prng.Perturb(dst, x[off:off+len(dst)], mu*r.spans[0].mu, z, uint32(off/prng.BlockLen))
		return
	}
	for len(dst) > 0 {
		skip := off % prng.BlockLen
		m := min(prng.BlockLen-skip, len(dst))
		prng.Fill(r.buffer[:skip+m], z, uint32(off/prng.BlockLen))
		r.eachSpan(off, m, func(s span, lo, hi int) {
			a := mu * s.mu
			zs, xs := r.buffer[skip:], x[off:]
			for i := lo; i < hi; i++ {
				dst[i] = xs[i] + float32(a*zs[i])
			}
		})
		dst, off = dst[m:], off+m
	}
}
