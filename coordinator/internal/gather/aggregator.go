package gather

import (
	"github.com/zofl/zofl/mathx"
	"github.com/zofl/zofl/plan"
)

// An Aggregator says how a plan combines the contributions of each scalar into one number. The zero
// Aggregator is the weighted mean.
type Aggregator struct {
	// one combines the values of one scalar, in any order. Nil: the weighted mean,
	// which needs no value once it is summed.
	one  func(values []float32) float32
	clip float32 // the largest norm of a contribution; 0: any
}

// AggregatorOf returns the aggregator of a plan.
func AggregatorOf(p *plan.Plan) Aggregator {
	switch p.Aggregator {
	case plan.Median:
		return Aggregator{one: mathx.MedianOf}
	case plan.TrimmedMean:
		trim := p.Trim
		return Aggregator{one: func(values []float32) float32 { return TrimmedMean(values, trim) }}
	case plan.ClippedMean:
		return Aggregator{clip: p.Clip}
	}
	return Aggregator{}
}

// Unsummed says whether the aggregator needs every single contribution instead of their sum.
func (a Aggregator) Unsummed() bool { return a.one != nil }

// Clips says whether the aggregator scales contributions down to a largest norm.
func (a Aggregator) Clips() bool { return a.clip > 0 }

// Clip scales a contribution down if the aggregator clips, and returns the factor.
func (a Aggregator) Clip(values []float32) (factor float64) {
	if a.clip == 0 {
		return 1
	}
	return Clip(values, a.clip)
}

// Combine returns one number for each scalar: computed from the held contributions if the
// aggregator is Unsummed, and otherwise the means of their sum.
func (a Aggregator) Combine(sum *Tally, held *Contributions) []float32 {
	if a.one == nil {
		return sum.Means()
	}
	return held.Combine(a.one)
}
