package guard

import (
	"math"

	"github.com/zofl/zofl/wire"
)

// Recall takes the scale from the last records of a log, for the first round of a coordinator that
// takes over. A record with a term for each contributor has their lengths. A mean of n
// contributions is at least the root of n shorter than they are if they have nothing in common, and
// as long if they are alike, so the scale is at most its length times that root.
func (g *Guard) Recall(p *wire.Plan, records [][]byte) {
	var t track
	for _, b := range records {
		r, err := wire.DecodeRecord(b)
		if err == nil && r.Kind == wire.KindRound {
			t.add(lengthIn(p, r.Round))
		}
	}
	g.told = t.median()
}

// lengthIn returns how long a round's contributions were at most, as its record tells; 0: it does
// not tell.
func lengthIn(p *wire.Plan, r *wire.Round) float64 {
	var lengths []float64
	steps := int(p.Steps)
	if r.Phase == 1 {
		steps = 1
	}
	for i := range r.Terms {
		if t := &r.Terms[i]; t.Back == 0 {
			values := p.Precision.Read(t.Scalars, steps, int(r.Perturbations))
			lengths = append(lengths, lengthOf(values))
		}
	}
	if len(lengths) == 0 {
		return 0
	}
	alike := float64(r.Contributors) / float64(len(lengths))
	return median(lengths) * math.Sqrt(max(alike, 1))
}
