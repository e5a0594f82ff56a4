package cost

import "github.com/zofl/zofl/plan"

// exactSumBytes is the size of a mathx.ExactSum. This package does not import mathx.
const exactSumBytes = 48

// scalarBytes returns the coordinator's memory in bytes for contributions with the given number of
// scalars each: sums, or, if the coordinator holds replies, the float32 of all replies.
func scalarBytes(p *plan.Plan, scalars uint64) uint64 {
	if p.HoldsReplies() {
		return 4 * scalars * uint64(p.Counted())
	}
	return exactSumBytes * scalars
}

// controlBytes returns the coordinator's bytes for control variates: one sum for each record along
// whose directions control variates are. With ScaffoldPoint there is one such record; with SVRG
// there are no control variates.
func controlBytes(p *plan.Plan, scalars uint64) uint64 {
	if p.Control == plan.ScaffoldMean {
		return exactSumBytes * scalars * uint64(p.Counted())
	}
	return exactSumBytes * scalars
}
