package late

import "math"

// Discount returns s(age) = 1/sqrt(1+age), FedBuff's factor of a late contribution (Nguyen et al.
// 2022). The age of a contribution is the number of rounds from its own round to the round that
// counts it, along the log's path.
func Discount(age uint64) float64 { return 1 / math.Sqrt(1+float64(age)) }
