package replica

import (
	"github.com/zofl/zofl/mathx"
	"github.com/zofl/zofl/prng"
)

const (
	lengthMismatch = "replica: length mismatch"
	denseStep      = "replica: Advance with transport=dense: step along Estimate instead"
)

// Perturb writes elements off, off+1, ... of x + mu*S z to dst, for a direction z that
// [Replica.Direction] returned. S scales each segment by its MuScale and by the box's High-Low,
// because mu is in the coordinates of the box. Perturb clips the result to the box. x is the whole
// iterate; Perturb does not change x, and dst may not overlap x. A negative mu gives the other side
// of a central difference; mu = 0 gives x itself.
//
// Several goroutines may call Perturb, PerturbAll and Digest at once, but no other method at the
// same time. Only one call of Perturb or PerturbAll at a time uses the workers.
func (r *Replica) Perturb(dst, x []float32, off int, mu float32, z *Direction) {
	if mu == 0 {
		copy(dst, x[off:])
		r.Clip(dst, off)
		return
	}
	r.probe(probe{start: off, end: off + len(dst), x: x, plus: dst, mu: mu, z: z})
}

// A probe covers elements [start, end) of one side of a difference, or of both. plus[0], and
// minus[0] if there is a minus, is element start.
type probe struct {
	start, end  int
	x           []float32
	plus, minus []float32
	mu          float32
	z           *Direction
}

// probeTile is how many elements a worker probes at a time, in whole blocks of the model except at
// the ends. Probing a tile takes much longer than passing the tile to a worker.
const probeTile = 4 * prng.BlockLen

func (r *Replica) probe(p probe) {
	team := r.teamFor(uint64(p.end - p.start))
	if team == nil || !r.busy.TryLock() {
		r.probeRange(&p, p.start, p.end)
		return
	}
	defer r.busy.Unlock()
	r.probeJob = p
	team.Do((p.end+probeTile-1)/probeTile-p.start/probeTile, r.probeTask)
	r.probeJob = probe{} // the destinations belong to the app
}

// probeOne probes one tile of the probeJob probe.
func (r *Replica) probeOne(_, tile int) {
	p := &r.probeJob
	start := (p.start/probeTile + tile) * probeTile
	r.probeRange(p, max(p.start, start), min(p.end, start+probeTile))
}

// probeRange probes elements [at, end). For whole blocks within one span, probeRange adds each
// element of z as it generates it. For other parts it first writes z to a buffer.
func (r *Replica) probeRange(p *probe, at, end int) {
	defer r.clipProbe(p, at, end)
	for at < end {
		s := r.segments[r.segments.At(at)]
		to := min(s.End, end)
		if to < end {
			to -= to % r.generator.unit
		}
		if at%r.generator.unit == 0 && at < to {
			r.probeBlocks(p, at, to, float32(p.mu*s.Mu))
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

// probeBlocks probes elements [at, to), which begin at the start of a block, except with LowRank,
// and share one factor.
func (r *Replica) probeBlocks(p *probe, at, to int, a float32) {
	if p.z.tau == 0 {
		p.blocks(at, to, a)
		return
	}
	if p.z.tau == ofLowRank {
		r.factors.probe(p, at, to, a)
		return
	}
	// The loop goes block by block, so that the output is still in the CPU's cache when probeSubspace
	// adds the next column.
	for ; at < to; at += prng.BlockLen {
		end := min(to, at+prng.BlockLen)
		p.blocks(at, end, a)
		r.probeSubspace(p, at, end, a)
	}
}

// blocks probes elements [at, to) along z alone, without the subspace.
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
		s := r.segments[r.segments.At(at)]
		hi := min(s.End, to)
		x, z, mu := p.x[at:hi], block[at-first:hi-first], float32(p.mu*s.Mu)
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
		r.probeSubspace(p, at, hi, mu)
		at = hi
	}
}

// probeSubspace adds the direction's part in the subspace to elements [at, to).
func (r *Replica) probeSubspace(p *probe, at, to int, a float32) {
	for j, v := range p.z.coefs[:p.z.tau] {
		q, av := r.basis[j][at:to], float32(a*v)
		mathx.Axpy(p.plus[at-p.start:to-p.start], av, q)
		if p.minus != nil {
			mathx.Axpy(p.minus[at-p.start:to-p.start], -av, q)
		}
	}
}
