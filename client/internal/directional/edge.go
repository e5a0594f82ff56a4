package directional

import (
	"sort"

	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/mathx"
	"github.com/zofl/zofl/prng"
)

// findEdges finds the elements of a span that are at an end of their box. The span starts at
// element at.
func (p *Projector) findEdges(at int, s *span) {
	for i := at; i < s.end && s.boxed; i++ {
		if !(s.low < p.x[i] && p.x[i] < s.high) {
			p.edges = append(p.edges, i)
		}
	}
}

// edgesIn returns the edges among elements [at, end).
func (p *Projector) edgesIn(at, end int) []int {
	if len(p.edges) == 0 {
		return nil
	}
	return p.edges[sort.SearchInts(p.edges, at):sort.SearchInts(p.edges, end)]
}

// outside returns the part of the inner product of elements [at, end) of one block that a forward
// difference leaves out, because these elements of x would leave their box.
func (p *Projector) outside(z prng.Direction, at, end int) (sum float64) {
	edges := p.edgesIn(at, end)
	if len(edges) == 0 || p.half {
		return 0
	}
	var buffer [prng.BlockLen]float32
	block := buffer[:end-at]
	p.r.Fill(block, z, uint32(at/prng.BlockLen))
	s := p.spanOf(at)
	for _, i := range edges {
		for i >= s.end {
			s = p.spanOf(i)
		}
		if v := block[i-at]; s.leaves(p.x[i], v) {
			sum += float64(float64(p.g[i]) * float64(v))
		}
	}
	return sum
}

// leaves says whether x, at an end of the box, would leave the box by a step along u.
func (s *span) leaves(x, u float32) bool { return x <= s.low && u < 0 || x >= s.high && u > 0 }

// spanOf returns the span of element i.
func (p *Projector) spanOf(i int) *span {
	at := sort.Search(len(p.spans), func(j int) bool { return p.spans[j].end > i })
	return &p.spans[at]
}

// Tangent sets u to elements off, off+1, ... of the vector along which the app takes the derivative
// for direction z. Several goroutines may call Tangent at once.
func (p *Projector) Tangent(u []float32, off int, r *replica.Replica, z *replica.Direction) {
	address, scale, coefs, basis := r.Parts(z)
	fillFrom(r, u, off, address)
	mathx.Scale(u, scale, u)
	for j, c := range coefs {
		mathx.Axpy(u, c, basis[j][off:off+len(u)])
	}
	for at, end := off, off+len(u); at < end; {
		s := p.spanOf(at)
		to := min(s.end, end)
		mathx.Scale(u[at-off:to-off], s.mu, u[at-off:to-off])
		for _, i := range p.edgesIn(at, to) {
			switch v := &u[i-off]; {
			case p.half:
				*v *= 0.5
			case s.leaves(p.x[i], *v):
				*v = 0
			}
		}
		at = to
	}
}

// fillFrom sets u to elements off, off+1, ... of z.
func fillFrom(r *replica.Replica, u []float32, off int, z prng.Direction) {
	if skip := off % prng.BlockLen; skip > 0 && len(u) > 0 {
		var block [prng.BlockLen]float32
		n := min(len(u), prng.BlockLen-skip)
		r.Fill(block[:skip+n], z, uint32(off/prng.BlockLen))
		copy(u, block[skip:skip+n])
		u, off = u[n:], off+n
	}
	r.Fill(u, z, uint32(off/prng.BlockLen))
}
