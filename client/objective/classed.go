package objective

import "context"

// A Classed objective also has a loss for each class of the device's samples, such as their labels.
// If a plan has classes, the runtime asks for these losses equally often in place of the single
// loss, and sends scalars for each class. The coordinator weighs the scalars as if every device had
// the same share of each class. A device without a Classed objective declines the rounds of such a
// plan.
//
// The device tells the coordinator how many samples of each class it has. A Classed objective costs
// the device a vector of d floats, x.
type Classed interface {
	Objective
	// ClassCounts returns the number of local samples of each class of the plan.
	ClassCounts() []int
	// ClassLosses sets sums[c] to the sum of the losses over the samples of class c in minibatch b, at
	// parameters x. ClassLosses sets counts[c] to the number of these samples. Both slices have an
	// element for each class of the plan, and hold zeros before the call. counts must depend on b
	// alone. The rules of [Flat].Loss for vectors and ctx hold here, too. A call counts as one query.
	ClassLosses(ctx context.Context, x []float32, b Batch, sums []float64, counts []int) error
}
