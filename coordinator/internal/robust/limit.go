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

// Out says whether a contribution is so long that it does not count.
func (g *Bounds) Out(values []float32) bool {
	usual := g.limited()
	return usual > 0 && lengthOf(values) > max(float64(g.plan.Bound), plan.UsualBound)*usual
}

// Limit scales down a contribution that is longer than the round's contributors allow, and returns
// the factor. Limit does not count as a cut, because honest contributions differ in length.
func (g *Bounds) Limit(values []float32) (factor float64) {
	if g.plan.Difference == plan.NoDifference {
		return shorten(values, mostLosses(g.count)*g.limited())
	}
	return shorten(values, most(g.count)*g.limited())
}

// mostLosses is most for the losses of candidates: half of what all others count as, so that one
// device cannot reverse a ranking that they agree on. Less would cost more: where devices differ,
// the sum of their losses has another optimum than that of scaled ones.
func mostLosses(count int) float64 { return max(1, float64(count-1)/2) }

// shorten scales values down to a length, unless that is 0, and returns the factor.
func shorten(values []float32, longest float64) (factor float64) {
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
