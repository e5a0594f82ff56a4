package stepsize

import (
	"fmt"
	"math"

	"github.com/zofl/zofl/wire/survey"
)

// shortest is the number of the shortest moves whose losses show the noise: the loss hardly changes
// along them.
const shortest = 4

// unlike is the ratio of two devices' steps from which one of them is likely to be wrong.
const unlike = 16

// remedy says how to find a better step.
const remedy = "With more devices or a larger batch, `zofl change step=auto` searches again; " +
	"`zofl tune --run` tries steps on the run's devices"

// step returns the step a* with the least loss, or the longest step whose loss differs from the
// least by no more than noise. With F(a) the loss at x - a w at [survey.Lengths], and M devices,
//
//	s^2    = the variance of a device's losses at x and at the four shortest steps, mean over the
//	         devices, /M
//	e(a)^2 = the variance of the devices' F(a), /M
//	a*     = the largest a with F(a) <= min F + 2 s
//
// Each length is 4 times the length before, and the least loss may lie anywhere from a*/1.6 to 2.5
// a*. If F(a*/4) and F(4a*) exceed F(a*) by more than 2 s, step computes the lowest point v of the
// parabola through these three points. a* is then v/1.25, at least half of the old a* and at most
// twice the old a*: for v anywhere between, that is as long on average as the nearest length. If
// F(a*/4) has four fifths of the fall, the loss becomes level there, and a* gets no longer.
//
// Let 2 s be less than a twentieth of the fall F(0) - min F. If some a of at most a sixteenth of a*
// has all of the fall except that twentieth, a* is the smallest such a. The reason: a loss may fall
// forever, and ever less. An example is a run where all devices but one have the same label: their
// loss keeps falling, while the trimmed mean leaves out the rising loss of the one device with
// another label.
//
// A loss that rises by 8 s from its least has a hump there. a* lies beyond the hump only if F is
// lower there than before the hump by 2 e of that difference: later moves along other lines would
// not find other minima beyond a hump.
//
// If F falls nowhere below -2 e, or with one device nowhere below -2 s, the minimum of F has no
// meaning: near an optimum, or with a small minibatch, F may rise by chance. Let k be the slope of
// F at the shortest steps that show a slope. a* is then as far as a loss with that slope would
// fall:
//
//	a* = the largest a with 2 (F(a) - k a) <= max(|k| a, e(a)), here and at all shorter ones
//
// For a parabola of curvature h, that is |k|/h or e/h. A loss that surely rises, always equally
// steep except for one bend, has an edge at x: a* is the length at which the slope changes. If any
// other loss has no slope or never bends, a* is the largest a with F(a) <= e(a), the change that
// the devices' samples might cause alone. If no a satisfies that, step uses 2 e(a) or 4 e(a)
// instead. If F is level from some a on, as error rates are, a* is no longer than that a.
//
// F and s^2 are means over the devices without the quarter at either end, and e is the error of
// that mean. So a fifth of the devices cannot choose the step, whatever they send. Five values of F
// alone would not show s: a few devices whose losses are noisy even on a fixed minibatch would then
// choose the step by chance. A loss that is not finite counts as infinite.
//
// If there are two devices, the mean can leave out neither. step then returns the shorter step of
// the two devices: a step that is too long destroys a model, while later rounds correct a step that
// is too short.
//
// If no loss changes up to a*, and none is lower beyond, the losses tell nothing of the step: the
// move is too far off the slope, or the loss too coarse. step then returns no step, and level.
func step(values [][]float32) (r survey.Result, level bool) {
	if len(values) == 2 {
		a, levelA := step(values[:1])
		b, levelB := step(values[1:])
		return shorter(a, b), levelA || levelB
	}
	l := lineOf(values)
	r.Rows = l.rows()
	if !l.finite() {
		r.Why = "the loss is not finite anywhere along the averaged move: set step"
		return r, false
	}
	s := noise(values)
	if !l.fallsForSure(s) {
		r.Warning = "no loss along the averaged move is surely lower, so the step may be far too short " +
			"or too long. " + remedy
		if r.Value = l.straight(); r.Value > 0 {
			r.Why = "it is not sure that the loss falls: the longest along which it is straight"
			return r, false
		}
		if r.Value = l.cone(); r.Value > 0 {
			r.Why = "the loss rises along all moves: how far it does so evenly"
			return r, false
		}
		if r.Value = l.within(); r.Value > 0 {
			r.Why = "devices differ in whether the loss falls: the longest that raises it by less"
			return r, false
		}
		if unchanged(values, l.longestNear(s)) {
			r.Why = fmt.Sprintf("%d losses along the averaged move changed nothing, or were higher",
				len(survey.Lengths())*len(values))
			r.Warning = ""
			return r, true
		}
	}
	r.Value, r.Why = l.longestNear(s), "the longest that keeps the loss within its noise of the least"
	if first := l.rests(s); first > 0 && r.Value >= plateau*first {
		r.Value, r.Why = first, "the shortest with nearly all of the fall: beyond it the loss rests"
		return r, false
	}
	if fine := l.refined(r.Value, 2*s); fine != r.Value {
		r.Value, r.Why = fine, "the least of the parabola through the lowest three losses"
	}
	return r, false
}

// unchanged says whether no device's loss changes up to a length, but for rounding.
func unchanged(values [][]float32, length float32) bool {
	for _, v := range values {
		for i, at := range survey.Lengths() {
			rise := math.Abs(float64(v[1+i]))
			if at <= length && !(rise <= survey.Rounding*math.Abs(float64(v[0]))) {
				return false
			}
		}
	}
	return true
}

// shorter returns the result with the shorter step, among the results that have a step.
func shorter(a, b survey.Result) survey.Result {
	if a.Value == b.Value {
		return a
	}
	if a.Value == 0 || b.Value > 0 && b.Value < a.Value {
		a, b = b, a
	}
	if times := b.Value / a.Value; times >= unlike {
		a.Warning = fmt.Sprintf("the other of two devices alone would have a step %.3g times as long. ",
			times) + remedy
	}
	a.Why += "; the other of two devices would have another step"
	return a
}

// finiteOr returns v, or an infinity if v is not finite.
func finiteOr(v float64) float64 {
	if v-v != 0 {
		return math.Inf(1)
	}
	return v
}

// noise returns s. A device whose losses are not finite counts as a device without noise.
func noise(values [][]float32) float64 {
	variances := make([]float64, len(values))
	for d, v := range values {
		rises := append([]float32{0}, v[1:1+shortest]...)
		if each := variance(rises); each-each == 0 {
			variances[d] = each
		}
	}
	return math.Sqrt(Trimmed(variances) / float64(len(values)))
}

// variance returns the sum of squared distances of v from its mean, divided by len(v)-1.
func variance(v []float32) float64 {
	mean, sum := 0.0, 0.0
	for _, e := range v {
		mean += float64(e) / float64(len(v))
	}
	for _, e := range v {
		sum += (float64(e) - mean) * (float64(e) - mean) / float64(len(v)-1)
	}
	return sum
}
