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
//	s = the standard deviation of F(0) and of F at the four shortest steps
//	a* = the largest a with F(a) <= min F + 2 s
//
// and the shortest if there is none. F is the mean over the devices without a quarter of them at
// either end, so that a fifth of the devices cannot choose the step, whatever they send. A loss
// that is not finite is infinite.
func step(values [][]float32) survey.Result {
	r := survey.Result{}
	least, noise, few := 0.0, []float64{0}, 0
	losses := make([]float64, len(survey.Lengths()))
	for i, at := range survey.Lengths() {
		rises := make([]float64, len(values))
		for d, v := range values {
			rises[d] = finiteOr(float64(v[1+i]))
		}
		losses[i] = trimmed(rises)
		row := survey.Row{At: at}
		if losses[i] <= math.MaxFloat32 {
			row.Usable, row.Loss = true, float32(losses[i])
			least = min(least, losses[i])
			if few++; few <= shortest {
				noise = append(noise, losses[i])
			}
		}
		r.Rows = append(r.Rows, row)
	}
	if few == 0 {
		r.Why = "the loss is not finite anywhere along the averaged move: set step"
		return r
	}
	most := least + 2*deviation(noise)
	for i, row := range r.Rows {
		if row.Usable && (r.Value == 0 || losses[i] <= most) {
			r.Value = row.At
		}
	}
	r.Why = "the longest that keeps the loss within its noise of the least"
	return r
}

// finiteOr returns v, or an infinity in place of what is not finite.
func finiteOr(v float64) float64 {
	if v-v != 0 {
		return math.Inf(1)
	}
	return v
}

// deviation returns the root of the mean squared distance from the mean.
func deviation(v []float64) float64 {
	mean, sum := 0.0, 0.0
	for _, e := range v {
		mean += e / float64(len(v))
	}
	for _, e := range v {
		sum += (e - mean) * (e - mean) / float64(len(v))
	}
	return math.Sqrt(sum)
}
