package replica

import (
	"github.com/zofl/zofl/client/replica/internal/layout"
	"github.com/zofl/zofl/client/replica/internal/server"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/wire"
)

// normalizes reports whether the plan's server rule is ServerNormalized.
func (r *Replica) normalizes() bool { return r.plan.ServerRule == plan.ServerNormalized }

// meanSquare returns the weighted mean of the squares of a round's own scalars, or 0 if the round
// has no own scalars. For a sphere the result is d times that mean, because scalars on a sphere are
// smaller. Scalars of late contributions do not count, because they are discounted. meanSquare adds
// in the order of the record:
//
//	for each own term, of P scalars and weight w, 1 without weights:
//		for q := range P {
//			s += float64(g[q] * g[q])
//		}
//		sum += float64(w * s)
//		n += w * P
//	u = sum / n
func (r *Replica) meanSquare(round *wire.Round) float64 {
	sum, n := 0.0, uint64(0)
	for i := range round.Terms {
		t, weight := &round.Terms[i], uint64(1)
		if t.Back > 0 {
			break // terms ascend by Back
		}
		if len(round.Weights) > 0 {
			weight = uint64(round.Weights[i])
		}
		block, square := r.block(round, t, 0), 0.0
		for _, v := range block {
			g := float64(v)
			square += float64(g * g)
		}
		sum += float64(float64(weight) * square)
		n += weight * uint64(len(block))
	}
	switch {
	case n == 0:
		return 0
	case r.plan.Distribution == plan.Sphere:
		return float64(float64(r.plan.Dim) * (sum / float64(n)))
	}
	return sum / float64(n)
}

// normalize applies a round to a block: with server_rule=normalized the server makes the only step.
func (r *Replica) normalize(b *parts, mv *move, terms []prng.Term) {
	r.sum(b.v, terms, nil, false, b.i)
	r.segments.Each(b.at, len(b.x), func(lo, hi int, span layout.Span) {
		a := float64(float64(mv.eta) * float64(span.Step))
		server.Step(&r.plan, b.x[lo:hi], b.server.Moment[lo:hi], b.v[lo:hi], a, mv.inverseRoot)
	})
}
