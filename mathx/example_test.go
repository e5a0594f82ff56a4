package mathx_test

import (
	"fmt"

	"github.com/zofl/zofl/mathx"
)

// Replies that arrive in any order, or already summed in groups, have the same
// mean: nothing is rounded before the division.
func ExampleExactSum() {
	var near, far, all mathx.ExactSum
	near.Add(1e30, 3)
	far.Add(-1e30, 3)
	far.Add(0.75, 2)
	all.Merge(&near)
	all.Merge(&far)
	fmt.Println(all.Mean(8))
	// Output: 0.1875
}
