package steer

import (
	"math"

	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/grouping"
)

// Squares are running means of the squares of a log's scalars, with groups=auto: V of the rule
// normalized, which is that of all records, and W, that of those along devices' own directions.
//
// A move is a m/sqrt(V). Along own directions scalars are the devices', along shared ones their
// means, which are smaller, and fall as the model learns. Where devices give their own directions
// up V falls by and by, and the moves would grow tenfold. But a was found for own directions. So
// from there on it is multiplied by sqrt(V/W), which makes moves a m/sqrt(W). Where devices never
// had their own there is no such factor.
//
// A log that begins later than the run lacks records, which matters for some 200 of them.
type Squares struct {
	all, own running
}

// A running mean, weighted by powers of beta2, is sum/weight.
type running struct{ sum, weight float64 }

func (r *running) take(square, keep float64) {
	r.sum, r.weight = keep*r.sum+(1-keep)*square, keep*r.weight+(1-keep)
}

// After returns the means after a record.
func (s Squares) After(p *wire.Plan, round uint64, terms []wire.Term) Squares {
	if p.Groups != grouping.Auto {
		return s
	}
	square, _ := meanSquare(p, round, terms)
	if !(square > 0) {
		return s // so does V
	}
	keep := float64(p.ServerBeta2)
	s.all.take(square, keep)
	if len(terms) > 1 {
		s.own.take(square, keep)
	}
	return s
}

// factor returns sqrt(V/W), 0 without own directions.
func (s Squares) factor() float64 {
	if s.own.weight == 0 {
		return 0
	}
	return math.Sqrt(s.all.sum / s.all.weight / (s.own.sum / s.own.weight))
}
