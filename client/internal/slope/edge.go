package slope

import (
	"sort"

	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/mathx"
	"github.com/zofl/zofl/prng"
)

// findEdges finds the elements of a span, which starts at element at, that are at an end of
// their box.
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

// outside returns what a forward difference does not see of the inner product of elements
// [at, end), of one block: what would lead out of a box.
func (p *Projector) outside(z prng.Direction, at, end int) (sum float64) {
	edges := p.edgesIn(at, end)
	if len(edges) == 0 || p.half {
		return 0
	}
	var buffer [prng.BlockLen]float32
	block := buffer[:end-at]
	prng.Fill(block, z, uint32(at/prng.BlockLen))
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

// leaves says whether x, at an end of the box, would leave it by a step along u.
func (s *span) leaves(x, u float32) bool { return x <= s.low && u < 0 || x >= s.high && u > 0 }

// spanOf returns the span of element i.
func (p *Projector) spanOf(i int) *span {
	at := sort.Search(len(p.spans), func(j int) bool { return p.spans[j].end > i })
	return &p.spans[at]
}

// Tangent sets u to the vector along which the derivative is the one of direction z.
func (p *Projector) Tangent(u []float32, r *replica.Replica, z *replica.Direction) {
	address, scale, coefs, basis := r.Parts(z)
	prng.Fill(u, address, 0)
	mathx.Scale(u, scale, u)
	for j, c := range coefs {
		mathx.Axpy(u, c, basis[j])
	}
	at := 0
	for i := range p.spans {
		s := &p.spans[i]
		mathx.Scale(u[at:s.end], s.mu, u[at:s.end])
		for _, i := range p.edgesIn(at, s.end) {
			switch {
			case p.half:
				u[i] *= 0.5
			case s.leaves(p.x[i], u[i]):
				u[i] = 0
			}
		}
		at = s.end
	}
}
