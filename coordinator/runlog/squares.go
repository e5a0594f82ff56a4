package runlog

import (
	"math"

	"github.com/zofl/zofl/internal/grouping"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// Squares are running means of the squares of a log's scalars, with groups=auto. V, from the update
// rule "normalized", covers all records. W covers only the records in which each device measured
// along its own directions.
//
// A round moves the model by a m/sqrt(V), where a is the step. A scalar along an own direction
// comes from a single device. A scalar along a shared direction is a mean over devices, so it is
// smaller, and it falls as the model learns. When devices change from own to shared directions, V
// falls slowly, and the moves would grow tenfold, because a was found for own directions. So the
// coordinator multiplies a by sqrt(V/W), and the moves stay a m/sqrt(W). If devices never had their
// own directions, a stays as it is.
//
// After the change to shared directions, V counts only while it falls: [Squares] keeps the least V
// since then. V grows where the loss grows, and if a grew with V, nothing would bound the moves.
// The loss of a run on features of 0 to 16 diverged in this way.
//
// If a log lacks the first records of its run, the means are wrong for some 200 records.
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
		return s // V does not count scalars of 0 either
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

// Factor returns sqrt(V/W) after a record divided by sqrt(V/W) before that record. Factor is 1
// until the first record along own directions.
func (s Squares) Factor(p *plan.Plan, round uint64, terms []wire.Term) float64 {
	if s.own.weight == 0 {
		return 1
	}
	return s.After(p, round, terms).root() / s.root()
}

// root returns sqrt(V/W), with s.low as V.
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
