package contest

// A preset that finds its step is compared with fixed ones: MiddleStep times powers of 4, which
// decay as its own does, by FixedDecay. With the rule normalized a step is a length that does not
// depend on the loss.
const (
	MiddleStep = 0.04
	FixedDecay = "slow-sqrt"
)

// Powers returns the nine powers of 4 by which a step is multiplied to look for the best; in a
// short experiment three of them.
func Powers(short bool) []int {
	if short {
		return []int{-2, 0, 2}
	}
	return []int{-4, -3, -2, -1, 0, 1, 2, 3, 4}
}
