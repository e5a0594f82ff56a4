package replica

import "github.com/zofl/zofl/prng"

// Points are the parameter vectors at which one local step evaluates the loss. With central
// differences these are x + mu*S z and x - mu*S z for each direction in turn. With forward
// differences they are x itself and then x + mu*S z for each direction. [Replica.Perturb] explains
// S.
type Points struct {
	X       []float32   // the whole iterate
	Mu      float32     // above 0
	Z       []Direction // as [Replica.Directions] returned them
	Central bool
}

// Len is the number of points.
func (p *Points) Len() int {
	if p.Central {
		return 2 * len(p.Z)
	}
	return 1 + len(p.Z)
}

// PerturbAll writes elements off, off+1, ..., off+n-1 of all points. dst[i], of n elements,
// receives point i; with a nil dst[i], PerturbAll leaves out point i. Perturb gives the same bits.
// PerturbAll generates each direction once. PerturbAll writes all points of a block before it reads
// the next block of x, so it reads x from memory only once. [Replica.Perturb] says what may run at
// the same time.
//
//	for each block:
//		for i := range dst:
//			Perturb(dst[i], at the block)
func (r *Replica) PerturbAll(dst [][]float32, off, n int, points *Points) {
	s := spread{points: points, dst: dst, start: off, end: off + n}
	wanted := s.check()
	if n == 0 {
		return
	}
	if points.Central {
		wanted = (wanted + 1) / 2 // about the number of directions
	}
	team := r.teamFor(uint64(n) * uint64(wanted))
	if team == nil || !r.busy.TryLock() {
		for i := range s.blocks() {
			r.spreadBlock(&s, i, 0, s.groups())
		}
		return
	}
	defer r.busy.Unlock()
	pieces := s.blocks()
	if s.split = pieces < blocksForAll*team.Workers(); s.split {
		pieces *= s.groups()
	}
	r.spreadJob = s
	team.Do(pieces, r.spreadTask)
	r.spreadJob = spread{} // the destinations belong to the app
}

// blocksForAll is the least number of blocks per worker for which workers take whole blocks. Then
// each worker reads only its part of x, and no worker waits long for the last worker.
const blocksForAll = 4

// A spread is the work of one PerturbAll: elements [start, end) of points, written to dst. A group
// is the one or two points along one direction, or the point x itself.
type spread struct {
	points     *Points
	dst        [][]float32
	start, end int
	split      bool // workers share the groups of a block
}

// check returns how many points dst asks for. check panics unless dst has the lengths that
// PerturbAll requires.
func (s *spread) check() (wanted int) {
	wrong := len(s.dst) != s.points.Len()
	for _, d := range s.dst {
		if d != nil {
			wanted++
			wrong = wrong || len(d) != s.end-s.start
		}
	}
	if wrong {
		panic(lengthMismatch)
	}
	return wanted
}

// blocks returns how many blocks of the model the range touches.
func (s *spread) blocks() int {
	return (s.end+prng.BlockLen-1)/prng.BlockLen - s.start/prng.BlockLen
}

func (s *spread) groups() int {
	if s.points.Central {
		return len(s.points.Z)
	}
	return 1 + len(s.points.Z)
}

// setGroup sets p to the probe of a group, or returns false if dst leaves out the whole group.
func (s *spread) setGroup(p *probe, group int) bool {
	p.minus, p.mu = nil, s.points.Mu
	switch {
	case s.points.Central:
		p.plus, p.minus, p.z = s.dst[2*group], s.dst[2*group+1], &s.points.Z[group]
	case group == 0:
		p.plus, p.mu = s.dst[0], 0
	default:
		p.plus, p.z = s.dst[group], &s.points.Z[group-1]
	}
	if p.plus == nil {
		p.plus, p.minus, p.mu = p.minus, nil, -p.mu
	}
	return p.plus != nil
}

// spreadOne writes one piece of a spread.
func (r *Replica) spreadOne(_, piece int) {
	s := &r.spreadJob
	if groups := s.groups(); s.split {
		r.spreadBlock(s, piece/groups, piece%groups, piece%groups+1)
	} else {
		r.spreadBlock(s, piece, 0, groups)
	}
}

// spreadBlock writes groups [from, to) of one block.
func (r *Replica) spreadBlock(s *spread, block, from, to int) {
	at := (s.start/prng.BlockLen + block) * prng.BlockLen
	start, end := max(s.start, at), min(s.end, at+prng.BlockLen)
	p := probe{start: s.start, end: s.end, x: s.points.X}
	for group := from; group < to; group++ {
		switch {
		case !s.setGroup(&p, group):
		case p.mu == 0:
			copy(p.plus[start-p.start:end-p.start], p.x[start:end])
			r.Clip(p.plus[start-p.start:end-p.start], start)
		default:
			r.probeRange(&p, start, end)
		}
	}
}
