package replica

import "github.com/zofl/zofl/prng"

// Probe writes elements off, off+1, ... of x + mu*S z to dst, for z of record
// n, local step k, perturbation p; S scales each segment by its MuScale. x is
// the whole iterate and stays as it is; dst may not overlap it. A negative mu
// gives the other side of a central difference; mu = 0 is x itself.
func (r *Replica) Probe(dst, x []float32, off int, mu float32, n uint64, k, p int) {
	if mu == 0 {
		copy(dst, x[off:])
		return
	}
	r.probe(job{start: off, end: off + len(dst), x: x, plus: dst, mu: mu, z: r.Direction(n, k, p)})
}

// ProbePair writes both sides of a central difference, of one generation of z:
// elements off, off+1, ... of x + mu*S z to plus and those of x - mu*S z to
// minus, which are as long as each other. They have the bits that two calls of
// Probe give.
func (r *Replica) ProbePair(plus, minus, x []float32, off int, mu float32, n uint64, k, p int) {
	if len(plus) != len(minus) {
		panic("replica: length mismatch")
	}
	r.probe(job{start: off, end: off + len(plus), x: x, plus: plus, minus: minus, mu: mu, z: r.Direction(n, k, p)})
}

// probeTile is how much a worker probes at a time: it takes longer than to share
// it out.
const probeTile = 4 * prng.BlockLen

func (r *Replica) probe(j job) {
	if r.probeTile == nil {
		r.probeTile = r.probeOne
	}
	r.job = j
	r.job.tile = probeTile
	if team := r.teamFor(uint64(j.end - j.start)); team != nil {
		r.tiles(team, r.probeTile)
	} else {
		r.probeRange(j.start, j.end, 0)
	}
	r.job = job{} // dst is the app's
}

func (r *Replica) probeOne(worker, tile int) {
	start, end := r.job.bounds(tile)
	r.probeRange(start, end, worker)
}

// probeRange probes elements [at, end): those of whole blocks in one span as they
// are generated, the others by way of a block of z.
func (r *Replica) probeRange(at, end, worker int) {
	for at < end {
		s := r.spans[r.spanAt(at)]
		to := min(s.end, end)
		if to < end {
			to -= to % prng.BlockLen
		}
		if at%prng.BlockLen == 0 && at < to {
			r.probeBlocks(at, to, r.job.mu*s.mu)
		} else {
			to = min(end, at-at%prng.BlockLen+prng.BlockLen)
			r.probePart(at, to, r.scratchOf(worker))
		}
		at = to
	}
}

// probeBlocks probes elements [at, to), from the start of a block on.
func (r *Replica) probeBlocks(at, to int, a float32) {
	j, block := &r.job, uint32(at/prng.BlockLen)
	x, plus := j.x[at:to], j.plus[at-j.start:to-j.start]
	if j.minus == nil {
		prng.Perturb(plus, x, a, j.z, block)
	} else {
		prng.PerturbPair(plus, j.minus[at-j.start:to-j.start], x, a, j.z, block)
	}
}

// probePart probes elements [at, to) of one block.
func (r *Replica) probePart(at, to int, z []float32) {
	j := &r.job
	z = z[:to-at+at%prng.BlockLen]
	prng.Fill(z, j.z, uint32(at/prng.BlockLen))
	z = z[at%prng.BlockLen:]
	for at < to {
		s := r.spans[r.spanAt(at)]
		n := min(s.end, to) - at
		x, plus, a := j.x[at:at+n], j.plus[at-j.start:], j.mu*s.mu
		for i, v := range z[:n] {
			plus[i] = x[i] + float32(a*v)
		}
		if j.minus != nil {
			minus := j.minus[at-j.start:]
			for i, v := range z[:n] {
				minus[i] = x[i] - float32(a*v)
			}
		}
		z, at = z[n:], at+n
	}
}
