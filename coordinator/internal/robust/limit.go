package robust

import "github.com/zofl/zofl/plan"

// Limits of one contribution by the number of contributors to its round.
//
// One device of few must not count for more than another, because it could undo what the others
// learn. One device of many may count for more, because honest contributions differ in length.
// Contributions beyond [plan.UsualBound], or a larger bound, do not count at all: honest devices
// hardly send any, unless one alone has a label, so that any length that were left of such a
// contribution would mostly do harm.

// minority is the number of contributors among whom one is a minority.
const minority = 3

// most returns how many usual contributions one contribution to a round of count counts as.
func most(count int) float64 {
	if count < 6 {
		return 1
	}
	return max(1.5, float64(count)/8)
}

// limited returns the usual length in a round that limits contributions by the number of
// contributors, and otherwise 0. Unlike [Bounds.scale], limited does not depend on what the log
// shows of the last rounds: contributions that are limited to once the usual length must be able to
// become longer. Most contributors decide limited, and the log decides [Bounds.scale], so that they
// can only do so much.
func (g *Bounds) limited() float64 {
	if g.plan.Bound == 0 || g.rooted() || g.count < minority {
		return 0
	}
	return max(g.own.safe(), g.past.steepest/room)
}

// Out says whether a contribution is so long that it does not count. Losses of candidates always
// count: the device whose loss is steepest balances all others at their common optimum.
func (g *Bounds) Out(values []float32) bool {
	usual := g.limited()
	return usual > 0 && g.plan.Difference != plan.NoDifference &&
		lengthOf(values) > max(float64(g.plan.Bound), plan.UsualBound)*usual
}

// Limit scales down a contribution that is longer than the round's contributors allow, and returns
// the factor. Limit does not count as a cut, because honest contributions differ in length.
func (g *Bounds) Limit(values []float32) (factor float64) {
	return Shorten(values, g.Longest(values))
}

// Longest returns how long the round's contributors allow a contribution to be, which nobody has
// cut yet; 0: any length.
func (g *Bounds) Longest(values []float32) float64 {
	usual := g.limited()
	if g.plan.Difference == plan.NoDifference {
		return lossesShare * (g.together - counted(lengthOf(values), usual))
	}
	return most(g.count) * usual
}

// lossesShare is how long a contribution of candidates' losses may be, in parts of what all others
// are together. Below 1, one device cannot reverse a ranking on which the others agree. Where
// devices differ, the sum of losses has another optimum once one of them is scaled down. At the
// optimum of all no gradient is longer than the others together, so the nearer to 1, the fewer are.
const lossesShare = 2. / 3

// counted returns a contribution's length in the sum of all. It is bounded: liars must not make
// room for each other.
func counted(length, usual float64) float64 { return min(length, plan.UsualBound*usual) }

// Shorten scales values down to a length, unless that is 0, and returns the factor.
func Shorten(values []float32, longest float64) (factor float64) {
	length := lengthOf(values)
	if longest == 0 || !(length > longest) {
		return 1
	}
	factor = longest / length
	for i, v := range values {
		values[i] = float32(float32(factor) * v)
	}
	return factor
}
