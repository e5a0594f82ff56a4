package steer

import (
	"math"

	"github.com/zofl/zofl/wire/survey"
)

// shortest is how many of the shortest moves tell how noisy a loss is: there it hardly changes.
const shortest = 4

// step returns the longest step a that does not raise the loss beyond its noise. With F(a) the loss
// at x - a w,
//
//	s^2 = the variance of a device's losses at x and at the four shortest steps, mean over the
//	      M devices, /M
//	a*  = the largest a with F(a) <= min F + 2 s
//
// and the shortest if there is none. F and s^2 are means over the devices without a quarter of them
// at either end, so that a fifth of the devices cannot choose the step, whatever they send. Five
// values of F alone would not tell s: a few devices whose noise no minibatch fixes would choose by
// chance. A loss that is not finite is infinite.
//
// Of two devices none can be left out. It then takes the shorter of what each finds alone: what is
// too long destroys a model, and what is too short is corrected over the rounds.
func step(values [][]float32) survey.Result {
	if len(values) == 2 {
		return shorter(step(values[:1]), step(values[1:]))
	}
	r := survey.Result{}
	least, finite := 0.0, 0
	losses := make([]float64, len(survey.Lengths()))
	for i, at := range survey.Lengths() {
		rises := make([]float64, len(values))
		for d, v := range values {
			rises[d] = finiteOr(float64(v[1+i]))
		}
		losses[i] = Trimmed(rises)
		row := survey.Row{At: at}
		if losses[i] <= math.MaxFloat32 {
			row.Usable, row.Loss = true, float32(losses[i])
			least = min(least, losses[i])
			finite++
		}
		r.Rows = append(r.Rows, row)
	}
	if finite == 0 {
		r.Why = "the loss is not finite anywhere along the averaged move: set step"
		return r
	}
	most := least + 2*noise(values)
	for i, row := range r.Rows {
		if row.Usable && (r.Value == 0 || losses[i] <= most) {
			r.Value = row.At
		}
	}
	r.Why = "the longest that keeps the loss within its noise of the least"
	return r
}

// shorter returns the result with the shorter step, of those that have one.
func shorter(a, b survey.Result) survey.Result {
	if a.Value == b.Value {
		return a
	}
	if a.Value == 0 || b.Value > 0 && b.Value < a.Value {
		a = b
	}
	a.Why += "; the other of two devices would have another step"
	return a
}

// finiteOr returns v, or an infinity in place of what is not finite.
func finiteOr(v float64) float64 {
	if v-v != 0 {
		return math.Inf(1)
	}
	return v
}

// noise returns s. A device that answers with what is not finite counts as one without noise.
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

// variance returns the sum of squared distances from the mean, over one less than their number.
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
