package contest

// Experiments compare a preset whose devices find the step size with fixed step sizes: MiddleStep
// times powers of 4, which decay by FixedDecay like the step size that devices find. With the
// rule normalized, the step size sets the length of a step, which does not depend on the scale of
// the loss.
const (
	MiddleStep = 0.04
	FixedDecay = "slow-sqrt"
)

// Powers returns nine exponents: experiments multiply a step size by 4 to each of these powers,
// to find the best step size. For a short experiment, Powers returns three exponents.
func Powers(short bool) []int {
	if short {
		return []int{-2, 0, 2}
	}
	return []int{-4, -3, -2, -1, 0, 1, 2, 3, 4}
}
