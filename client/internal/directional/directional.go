// Package directional computes the derivatives of a loss along a round's directions, for a device
// that has the gradient of its loss. The derivatives are the limits, for mu to 0, of the
// differences that a device without a gradient computes. No other device repeats these sums, so the
// package computes them in float64, in whatever order is fast.
package directional

import (
	"fmt"
	"math"

	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/internal/parallel"
	"github.com/zofl/zofl/mathx"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/prng"
)

// A Projector computes derivatives along directions at one point after another: call Begin, then
// Project or Tangent. Once a Projector has its buffers, it allocates a few bytes a point.
//
// A probe moves x along u = S z, with S the factors on mu. An element of x at an end of its box can
// move only into the box. So a forward difference includes that element of u only if the element
// points into the box. A central difference has only one of its two points for that element, and so
// includes half of the element.
type Projector struct {
	team  *parallel.Team
	spans []span
	x     []float32
	half  bool // central differences
	g     []float32
	edges []int // forward differences: ascending indices of elements at an end of their box

	// The next fields are for a call of Project.
	z       []replica.Direction
	r       *replica.Replica
	tile    int       // blocks of a piece
	sums    []float64 // of piece i and direction p: [i*len(z)+p]
	columns []float64 // inner products of g with the columns of a subspace
	task    func(worker, i int)
}

// A span is a run of parameters with the same factor on mu and the same box, or none.
type span struct {
	end       int
	mu        float32
	boxed     bool
	low, high float32
}

// New returns a projector that uses the given number of goroutines.
func New(workers int) *Projector {
	p := &Projector{team: parallel.New(workers)}
	p.task = p.piece
	return p
}

// Begin readies the projector for a point x, in its boxes. g is the gradient at x; nil for Tangent
// alone. Begin overwrites g. x and g belong to the projector until the next Begin. The error names
// the first element of g that is not finite.
func (p *Projector) Begin(pl *plan.Plan, x, g []float32) error {
	p.x, p.g, p.edges, p.half = x, g, p.edges[:0], pl.Difference == plan.Central
	p.setSpans(pl)
	at := 0
	for i := range p.spans {
		s := &p.spans[i]
		p.findEdges(at, s)
		if err := p.scale(at, s); err != nil {
			return err
		}
		at = s.end
	}
	return nil
}

// scale multiplies a span of g by the span's factor on mu. The span starts at element at.
func (p *Projector) scale(at int, s *span) error {
	if p.g == nil {
		return nil
	}
	for i, v := range p.g[at:s.end] {
		a := float32(v * s.mu)
		if !(math.Abs(float64(a)) <= math.MaxFloat32) {
			if v != v {
				return fmt.Errorf("element %d of the gradient is %v: set each element, and add to none, "+
					"for they are NaN before the call", at+i, v)
			}
			return fmt.Errorf("element %d of the gradient is %v", at+i, v)
		}
		p.g[at+i] = a
	}
	if p.half {
		for _, i := range p.edgesIn(at, s.end) {
			p.g[i] *= 0.5
		}
	}
	return nil
}

// setSpans copies the plan's spans.
func (p *Projector) setSpans(plan *plan.Plan) {
	p.spans = p.spans[:0]
	end := 0
	for i, s := range plan.Layout() {
		end += int(s.Len)
		next := span{end: end, mu: s.MuScale}
		if b, ok := plan.BoxOf(i); ok {
			next.boxed, next.low, next.high = true, b.Low, b.High
			next.mu = float32(next.mu * float32(b.High-b.Low))
		}
		p.spans = append(p.spans, next)
	}
}

// piecesOfModel is about how many pieces Project cuts a large model into: enough for any number of
// workers, and few sums to add.
const piecesOfModel = 64

// workFor is the least work, in elements of directions, for which Project uses other threads.
const workFor = 32 * prng.BlockLen

// Project sets dst[i] to the derivative of the loss along direction z[i]: g times u.
func (p *Projector) Project(dst []float64, r *replica.Replica, z []replica.Direction) {
	p.r, p.z = r, z
	blocks := (len(p.g) + prng.BlockLen - 1) / prng.BlockLen
	p.tile = max(1, blocks/piecesOfModel)
	pieces := (blocks + p.tile - 1) / p.tile
	p.sums = cleared(p.sums, pieces*len(z))
	team := p.team
	if len(p.g)*len(z) < workFor {
		team = nil
	}
	team.Do(pieces, p.task)
	for i := range z {
		dst[i] = p.total(i)
	}
	p.r, p.z = nil, nil
}

// piece computes the share of piece i of the model in the derivatives. A block of g stays in the
// processor's cache for all directions.
func (p *Projector) piece(_, i int) {
	sums := p.sums[i*len(p.z):][:len(p.z)]
	for b := i * p.tile; b < (i+1)*p.tile && b*prng.BlockLen < len(p.g); b++ {
		at := b * prng.BlockLen
		g := p.g[at:min(at+prng.BlockLen, len(p.g))]
		for j := range p.z {
			z, _, _, _ := p.r.Parts(&p.z[j])
			sums[j] += p.r.Dot(g, z, uint32(b)) - p.outside(z, at, at+len(g))
		}
	}
}

// total returns the derivative along direction i.
func (p *Projector) total(i int) float64 {
	_, scale, coefs, basis := p.r.Parts(&p.z[i])
	sum := 0.0
	for at := i; at < len(p.sums); at += len(p.z) {
		sum += p.sums[at]
	}
	sum *= float64(scale)
	if i == 0 {
		p.columns = p.columns[:0]
		for _, q := range basis {
			p.columns = append(p.columns, mathx.Dot(p.g, q))
		}
	}
	for j, c := range coefs {
		sum += float64(c) * p.columns[j]
	}
	return sum
}

// cleared returns a slice of n zeros, in the memory of v if that suffices.
func cleared(v []float64, n int) []float64 {
	if cap(v) < n {
		return make([]float64, n)
	}
	clear(v[:n])
	return v[:n]
}
