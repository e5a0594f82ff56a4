package cost

import "github.com/zofl/zofl/plan"

// exactSumBytes is the size of a mathx.ExactSum, which this package does not
// import.
const exactSumBytes = 48

// scalarBytes returns the coordinator's bytes for contributions with the given number of scalars
// each: sums, or if it holds replies, all their float32.
func scalarBytes(p *plan.Plan, scalars uint64) uint64 {
	if p.HoldsReplies() {
		return 4 * scalars * uint64(p.Target)
	}
	return exactSumBytes * scalars
}

// controlBytes returns the coordinator's bytes for control variates: one sum for each record along
// whose directions they lie. With ScaffoldPoint that is one record; SVRG has no variates.
func controlBytes(p *plan.Plan, scalars uint64) uint64 {
	if p.Control == plan.ScaffoldMean {
		return exactSumBytes * scalars * uint64(p.Target)
	}
	return exactSumBytes * scalars
}
