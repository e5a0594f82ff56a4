package cma

import (
	"fmt"
	"math"
	"slices"

	"github.com/zofl/zofl/wire/survey"
)

// near is how many of the shortest distances tell the noise of the loss.
const near = 4

// FirstSigma returns the sigma from which a run begins, from the losses that devices measured at a
// distance a on both sides of the model, along one direction z:
//
//	sigma = a* clip(|odd|/(2 even), 0.316, 3.16)
//
// a* is the longest distance at which the lower of the two losses is within two deviations of the
// least of all, where the deviation is that of the losses at the four shortest distances. The
// factor is that to the lowest point of a parabola, and is 1 unless both parts exceed four
// deviations. values has an answer to a survey of kind [survey.Mu] for each device; losses are
// medians over the devices. If no loss differs from another, Value is 0.
func FirstSigma(values [][]float32) (s survey.Result, b Bend) {
	distances := survey.Distances()
	s.Kind, s.Answers = survey.FirstSigma, uint32(len(values))
	odds, evens := make([]float64, len(distances)), make([]float64, len(distances))
	for i, at := range distances {
		odds[i] = math.Abs(middle(values, 1+i))
		evens[i] = middle(values, 1+len(distances)+i)
		row := survey.Row{At: at}
		if odds[i]+math.Abs(evens[i]) <= math.MaxFloat32 {
			row = survey.Row{At: at, Usable: true, Odd: float32(odds[i]), Even: float32(evens[i])}
		}
		s.Rows = append(s.Rows, row)
	}
	doubt := deviation(s.Rows[:near])
	best, least := -1, 0.0
	for _, r := range s.Rows {
		if r.Usable {
			least = min(least, lower(r))
		}
	}
	changes := false
	for i, r := range s.Rows {
		changes = changes || r.Usable && (r.Odd != 0 || r.Even != 0)
		if r.Usable && lower(r) <= least+2*doubt {
			best = i
		}
	}
	if best < 0 || !changes {
		s.Why = "no finite loss differs from that of the model, up to a distance of 100: give step, " +
			"about a third of the distance to a good model"
		return s, Bend{}
	}
	factor := 1.0
	if odd, even := odds[best], evens[best]; odd > 4*doubt && even > 4*doubt {
		factor = min(max(odd/(2*even), math.Sqrt(0.1)), math.Sqrt(10))
	}
	s.Value = float32(float64(s.Rows[best].At) * factor)
	s.Why = fmt.Sprintf("the first sigma: the loss is lowest some %v away", s.Rows[best].At)
	return s, bendOf(s.Rows[best+1:], doubt)
}

// A Bend is what else the losses of [FirstSigma] tell: by how much the loss curves along z, just
// beyond its lowest point, and the deviation of a loss. The zero Bend tells nothing.
type Bend struct{ Curve, Doubt float64 }

func bendOf(beyond []survey.Row, doubt float64) Bend {
	if len(beyond) == 0 || !beyond[0].Usable || !(float64(beyond[0].Even) > 4*doubt) {
		return Bend{}
	}
	a := float64(beyond[0].At)
	return Bend{2 * float64(beyond[0].Even) / (a * a), doubt}
}

// These are times of a first sigma.
const (
	tooSmall = 10 // that of the candidates' losses, if the first one is too small
	widest   = 3  // the sigma that takes its place, at most
)

// wider returns a wider sigma if the losses of the first candidates tell one far above the sigma
// that made them, or else 0. A direction z that happens to be almost orthogonal to the gradient has
// its lowest point nearby. The losses of normal candidates spread by sigma |g|, whatever z was:
//
//	sigma = (spread/sigma) / (curvature along z)
//
// But z may also be one along which the loss is flat, and then this sigma is far too long, above
// all with few parameters. So wider returns at most widest times the first one: that much costs
// little, and a strategy whose sigma is still too small makes it grow.
func (b Bend) wider(losses []float32, sigma, most float64) float64 {
	mean, squares := 0.0, 0.0
	for _, v := range losses {
		if !(float64(v) < most) {
			return 0 // beyond what a scalar can tell
		}
		mean += float64(v) / float64(len(losses))
	}
	for _, v := range losses {
		squares += (float64(v) - mean) * (float64(v) - mean)
	}
	spread := math.Sqrt(squares / float64(len(losses)))
	told := spread / sigma / b.Curve
	if wide := widest * sigma; spread > 4*b.Doubt && told > tooSmall*sigma &&
		wide <= math.MaxFloat32 {
		return wide
	}
	return 0
}

// lower returns the lower of the two losses at a distance, less the loss at the model.
func lower(r survey.Row) float64 { return float64(r.Even) - float64(r.Odd) }

// deviation returns the standard deviation of the losses at distances, and of the model's.
func deviation(rows []survey.Row) float64 {
	losses := []float64{0}
	for _, r := range rows {
		if r.Usable {
			losses = append(losses, float64(r.Even)-float64(r.Odd), float64(r.Even)+float64(r.Odd))
		}
	}
	mean, squares := 0.0, 0.0
	for _, v := range losses {
		mean += v / float64(len(losses))
	}
	for _, v := range losses {
		squares += (v - mean) * (v - mean)
	}
	return math.Sqrt(squares / max(float64(len(losses)-1), 1))
}

// middle returns the median over the answers of a value, so that one device that lies does not
// decide sigma. A NaN counts as an infinite loss.
func middle(values [][]float32, i int) float64 {
	list := make([]float64, len(values))
	for k, v := range values {
		if list[k] = float64(v[i]); math.IsNaN(list[k]) {
			list[k] = math.Inf(1)
		}
	}
	slices.Sort(list)
	n := len(list)
	return list[n/2]/2 + list[(n-1)/2]/2
}
