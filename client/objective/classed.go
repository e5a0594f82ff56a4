package objective

import "context"

// A Classed objective also has its loss apart for each class of the device's samples, such as
// their labels. Where a plan has classes, the runtime asks for these in place of the loss, as
// often, and sends scalars for each class. The coordinator weighs them so that devices with other
// classes count as if all had the same share of each. A device without it declines such rounds.
//
// It tells the coordinator how many samples of each class the device has. It costs the device a
// vector of d floats, x.
type Classed interface {
	Objective
	// ClassCounts returns the number of local samples of each class of the plan.
	ClassCounts() []int
	// ClassLosses sets sums[c] to the sum of the losses at parameters x over the samples of
	// class c in minibatch b, and counts[c] to their number. Both have an element for each
	// class of the plan, and are zero before. counts depends on b alone. The terms for vectors
	// and ctx are those of [Flat].Loss. A call counts as one query.
	ClassLosses(ctx context.Context, x []float32, b Batch, sums []float64, counts []int) error
}
