package cost

import "github.com/zofl/zofl/plan"

// exactSumBytes is the size of a mathx.ExactSum, which this package does not
// import.
const exactSumBytes = 48

// scalarBytes returns the coordinator's bytes for contributions of so many scalars each:
// sums, or where it holds replies all their float32.
func scalarBytes(p *plan.Plan, scalars uint64) uint64 {
	if p.HoldsReplies() {
		return 4 * scalars * uint64(p.Target)
	}
	return exactSumBytes * scalars
}

// controlBytes returns the coordinator's bytes for control variates, which SVRG has none of: one
// sum for each record along whose directions they lie, which with ScaffoldPoint is one record.
func controlBytes(p *plan.Plan, scalars uint64) uint64 {
	if p.Control == plan.ScaffoldMean {
		return exactSumBytes * scalars * uint64(p.Target)
	}
	return exactSumBytes * scalars
}
