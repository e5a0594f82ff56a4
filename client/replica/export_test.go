package replica

// Probe is Perturb along the direction of record n, local step k, perturbation p, source.
func (r *Replica) Probe(dst, x []float32, off int, mu float32, n uint64, k, p int, source uint32) {
	r.Perturb(dst, x, off, mu, r.tempDirection(n, k, p, source))
}
