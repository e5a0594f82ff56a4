package runlog

import (
	"math"

	"github.com/zofl/zofl/internal/grouping"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// Squares are running means of the squares of a log's scalars, with groups=auto. V of the rule
// normalized covers all records; W covers the records along devices' own directions.
//
// A move is a m/sqrt(V). Scalars along own directions are single devices'. Scalars along shared
// directions are means, which are smaller and fall as the model learns. When devices give up their
// own directions, V falls slowly, and the moves would grow tenfold. But a was found for own
// directions. So a is multiplied by sqrt(V/W), which keeps the moves at a m/sqrt(W). It is not, if
// devices never had their own directions.
//
// Once devices share directions for good, they go on: a step that was found along shared directions
// suits own directions less. V grows where the loss grows, and if a grew with it nothing would
// bound the moves. A run on features of 0 to 16 blew up in this way.
//
// If a log begins later than its run, the means are wrong for some 200 records.
type Squares struct {
	all, own running
	low      float64 // V while devices have their own directions, and then the least V since
}

// A running mean, weighted by powers of beta2, is sum/weight.
type running struct{ sum, weight float64 }

func (r *running) take(square, keep float64) {
	r.sum, r.weight = keep*r.sum+(1-keep)*square, keep*r.weight+(1-keep)
}

// After returns the means after a record.
func (s Squares) After(p *plan.Plan, round uint64, terms []wire.Term) Squares {
	if p.Groups != grouping.Auto {
		return s
	}
	square, _ := MeanSquare(p, round, terms)
	if !(square > 0) {
		return s // nor does V count scalars of 0
	}
	keep := float64(p.ServerBeta2)
	s.all.take(square, keep)
	v := s.all.sum / s.all.weight
	if len(terms) > 1 {
		s.own.take(square, keep)
	} else if s.own.weight > 0 {
		v = min(v, s.low)
	}
	s.low = v
	return s
}

// Factor returns sqrt(V/W) relative to its value before a record, or 1 before the first own
// directions.
func (s Squares) Factor(p *plan.Plan, round uint64, terms []wire.Term) float64 {
	if s.own.weight == 0 {
		return 1
	}
	return s.After(p, round, terms).root() / s.root()
}

// root returns sqrt(V/W), with the V that counts.
func (s Squares) root() float64 {
	return math.Sqrt(s.low / (s.own.sum / s.own.weight))
}

// MeanSquare returns the mean square of the scalars in a round's terms, without late terms, and the
// number of these scalars.
func MeanSquare(p *plan.Plan, round uint64, terms []wire.Term) (square float64, n int) {
	for i := range terms {
		if terms[i].Back > 0 {
			break // terms ascend by Back; late ones lie along other directions
		}
		scalars := p.TermPrecision().Read(terms[i].Scalars, int(p.Steps), int(p.PerturbationsAt(round)))
		for _, g := range scalars {
			square += float64(g) * float64(g)
		}
		n += len(scalars)
	}
	return square / float64(max(n, 1)), n
}
