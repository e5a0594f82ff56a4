package replica

import (
	"github.com/zofl/zofl/mathx"
	"github.com/zofl/zofl/prng"
)

const (
	lengthMismatch = "replica: length mismatch"
	denseStep      = "replica: Advance of a dense run: it has Estimate"
)

// Probe writes elements off, off+1, ... of x + mu*S z to dst, for z of record
// n, local step k, perturbation p, source; S scales each segment by its MuScale and, as
// mu is in the coordinates of a box, by the box's High-Low. What passes an end of the
// box is at that end. x is the whole iterate and stays as it is; dst may not overlap it.
// A negative mu gives the other side of a central difference; mu = 0 is x itself.
func (r *Replica) Probe(dst, x []float32, off int, mu float32, n uint64, k, p int, source uint32) {
	r.Perturb(dst, x, off, mu, r.aimed(n, k, p, source))
}

// Perturb is Probe along a direction that [Replica.Direction] returned. Several
// goroutines may call it and PerturbAll at once, while nothing else but Digest is
// called; one of them at a time has the workers.
func (r *Replica) Perturb(dst, x []float32, off int, mu float32, z *Direction) {
	if mu == 0 {
		copy(dst, x[off:])
		r.Clip(dst, off)
		return
	}
	r.probe(probe{start: off, end: off + len(dst), x: x, plus: dst, mu: mu, z: z})
}

// A probe is elements [start, end) of one side of a difference, or of both:
// element start is plus[0], and minus[0] if there is a minus.
type probe struct {
	start, end  int
	x           []float32
	plus, minus []float32
	mu          float32
	z           *Direction
}

// probeTile is how many elements a worker probes at a time, in whole blocks of the
// model but for the ends: it takes longer than to share them out.
const probeTile = 4 * prng.BlockLen

func (r *Replica) probe(p probe) {
	team := r.teamFor(uint64(p.end - p.start))
	if team == nil || !r.busy.TryLock() {
		r.probeRange(&p, p.start, p.end)
		return
	}
	defer r.busy.Unlock()
	r.shared = p
	team.Do((p.end+probeTile-1)/probeTile-p.start/probeTile, r.probeTask)
	r.shared = probe{} // what it wrote to is the app's
}

// probeOne probes one tile of the probe that is shared out.
func (r *Replica) probeOne(_, tile int) {
	p := &r.shared
	start := (p.start/probeTile + tile) * probeTile
	r.probeRange(p, max(p.start, start), min(p.end, start+probeTile))
}

// probeRange probes elements [at, end): those of whole blocks in one span as they
// are generated, the others by way of a block of z.
func (r *Replica) probeRange(p *probe, at, end int) {
	defer r.clipProbe(p, at, end)
	for at < end {
		s := r.segments[r.spanAt(at)]
		to := min(s.end, end)
		if to < end {
			to -= to % prng.BlockLen
		}
		if at%prng.BlockLen == 0 && at < to {
			r.probeBlocks(p, at, to, float32(p.mu*s.mu))
		} else {
			to = min(end, at-at%prng.BlockLen+prng.BlockLen)
			r.probePart(p, at, to)
		}
		at = to
	}
}

// clipProbe clips elements [at, end) of both sides.
func (r *Replica) clipProbe(p *probe, at, end int) {
	r.Clip(p.plus[at-p.start:end-p.start], at)
	if p.minus != nil {
		r.Clip(p.minus[at-p.start:end-p.start], at)
	}
}

// probeBlocks probes elements [at, to), from the start of a block on, all with one
// factor.
func (r *Replica) probeBlocks(p *probe, at, to int, a float32) {
	if p.z.tau == 0 {
		p.blocks(at, to, a)
		return
	}
	for ; at < to; at += prng.BlockLen { // so that what one column wrote is in a cache for the next
		end := min(to, at+prng.BlockLen)
		p.blocks(at, end, a)
		r.probeSpan(p, at, end, a)
	}
}

// blocks probes elements [at, to) along what z is made of.
func (p *probe) blocks(at, to int, a float32) {
	block := uint32(at / prng.BlockLen)
	a = p.z.along(a)
	x, plus := p.x[at:to], p.plus[at-p.start:to-p.start]
	if p.minus == nil {
		prng.Perturb(plus, x, a, p.z.z, block)
	} else {
		prng.PerturbPair(plus, p.minus[at-p.start:to-p.start], x, a, p.z.z, block)
	}
}

// probePart probes elements [at, to) of one block.
func (r *Replica) probePart(p *probe, at, to int) {
	var block [prng.BlockLen]float32
	first := at - at%prng.BlockLen
	prng.Fill(block[:to-first], p.z.z, uint32(first/prng.BlockLen))
	for at < to {
		s := r.segments[r.spanAt(at)]
		hi := min(s.end, to)
		x, z, mu := p.x[at:hi], block[at-first:hi-first], float32(p.mu*s.mu)
		a := p.z.along(mu)
		plus := p.plus[at-p.start:]
		for i, v := range z {
			plus[i] = x[i] + float32(a*v)
		}
		if p.minus != nil {
			minus := p.minus[at-p.start:]
			for i, v := range z {
				minus[i] = x[i] - float32(a*v)
			}
		}
		r.probeSpan(p, at, hi, mu)
		at = hi
	}
}

// probeSpan adds what a direction has in the subspace to elements [at, to).
func (r *Replica) probeSpan(p *probe, at, to int, a float32) {
	for j, v := range p.z.span[:p.z.tau] {
		q, av := r.basis[j][at:to], float32(a*v)
		mathx.Axpy(p.plus[at-p.start:to-p.start], av, q)
		if p.minus != nil {
			mathx.Axpy(p.minus[at-p.start:to-p.start], -av, q)
		}
	}
}
