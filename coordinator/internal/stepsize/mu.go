package stepsize

import (
	"fmt"
	"math"
	"slices"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire/survey"
)

// bends are the largest ratios B/A of a good mu, the preferred ratio first. B/A compares the even
// part of the loss along a direction with the odd part. The even part is the same along all
// directions, and does not fall as the loss does: an even part of a fifth of a difference at first
// may be twice that difference later. 0.02 leaves room for that, if the loss is precise enough.
var bends = []float64{0.02, 0.2}

// growth has the least factors by which the odd part of a straight loss grows to the next distance,
// which is ten times as far, and to the distance after, which is a hundred times as far. An odd
// part that grows less is a jump of the loss, as rounding causes, or noise. A jump goes up as often
// as down, so it is no slope.
var growth = []float64{2, 10}

// mu returns the largest distance at which the loss is straight enough. At distance i the devices'
// differences are a (odd part) and b (even part), of which
//
//	A = median |a|, over the devices
//	B = the largest median |b| at this or a shorter distance; and of A, where it is no slope
//
// A is no slope in three cases: A is more than half of the A at the next distance, less than twice
// the A at the distance before, or more than a tenth of the A two distances on. Among the distances
// where A is a slope, mu returns the largest distance with B/A at most 0.02. If there is none, mu
// returns the largest distance with B/A at most 0.2, or otherwise the distance with the least B/A
// if that B/A is below 1. mu may return a longer distance that is [steeper]. If the least B/A is
// not below 1, mu returns the distance with the least B/mu, the error of a slope, before the loss
// is [bent]. No mu is longer than the distance where the loss has [rested].
//
// The even part falls toward short distances unless it is noise. Noise occurs at all distances, and
// may by chance be small at one distance. mu takes medians because one device with a large number
// could decide a root mean square alone, and fewer than half of the devices cannot decide a median.
// A device whose loss at a distance is not finite counts as a device with a = 0 and an infinite b
// there.
//
// difference is what the run's devices compute at mu: it decides how much of it is error.
func mu(values [][]float32, difference plan.Difference) survey.Result {
	s := survey.Result{}
	var odds, evens []float64
	for i, at := range survey.Distances() {
		odd, even, usable := parts(values, 1+i, 1+len(survey.Distances())+i)
		row := survey.Row{At: at}
		if usable = usable && !math.IsInf(even, 0); usable {
			row = survey.Row{At: at, Usable: true, Odd: float32(odd), Even: float32(even)}
		}
		s.Rows, odds, evens = append(s.Rows, row), append(odds, odd), append(evens, even)
	}
	rows := s.Rows[:rested(s.Rows, odds, evens)]
	noise, sloped := noises(rows, len(rows) < len(s.Rows), odds, evens)
	best, bend := straightest(rows, odds, noise, sloped)
	far := steeper(rows, odds, evens, best)
	switch {
	case far > best:
		best, s.Why = far, "the largest at which the loss is twice as steep as near the model"
	case best >= 0 && bend <= bends[len(bends)-1]:
		s.Why = fmt.Sprintf("the largest whose even part is at most %v of the odd one", bend)
	case best >= 0:
		s.Why = fmt.Sprintf("no even part is at most %v of the odd one; this has the least, %.2g of "+
			"it", bends[len(bends)-1], bend)
	default:
		if best = surest(rows[:bent(rows, odds, evens)], noise); best < 0 {
			s.Why = "at no distance do half of the devices have two finite losses that differ: begin " +
				"at random parameters, or set mu"
			return s
		}
		s.Why = fmt.Sprintf("no even part is below the odd one; this has the least error of a slope, "+
			"%.2g for an odd part of %.2g", noise[best], odds[best])
	}
	s.Value = s.Rows[best].At
	s.Bits = coarse(values)
	s.SetSignal(odds[best], survey.ErrorAt(noise, best, difference))
	return s
}

// coarse returns the significant bits of the losses if most devices compute them in the same 16
// bits, or 0.
func coarse(values [][]float32) int {
	devices := make([]int, len(values))
	for d, v := range values {
		devices[d] = survey.Bits(survey.LossesOf(v))
	}
	return survey.Coarse(devices)
}

// Level says whether the answers to a survey of mu show a loss that changes, but to no other value
// on one side of the model than on the other. Other directions may show a slope.
func Level(values [][]float32) bool {
	for _, v := range values {
		for _, even := range v[1+len(survey.Distances()):] {
			if even != 0 && even-even == 0 {
				return true
			}
		}
	}
	return false
}

// Anew returns the change with which devices look for mu again, along other directions.
func Anew() *plan.Change { return &plan.Change{Fields: []uint64{fieldMu}} }

// noises returns B by distance, and at which distances A is a slope. If the loss is level from the
// last distance on, A is no slope there, and shorter distances are not compared with the last.
func noises(rows []survey.Row, rests bool, odds, evens []float64) (noise []float64,
	sloped []bool) {
	sloped, noise = make([]bool, len(rows)), make([]float64, len(rows))
	for i, row := range rows {
		sloped[i] = row.Usable
	}
	growing := len(rows) // up to there a straight loss would grow
	if rests {
		growing--
		sloped[growing] = false
	}
	for i := range rows {
		for k, least := range growth {
			next := i + 1 + k
			if next >= growing || !rows[i].Usable || !rows[next].Usable ||
				odds[next] >= least*odds[i] {
				continue
			}
			if sloped[i] = false; k == 0 {
				sloped[next] = false
			}
		}
	}
	most := 0.0
	for i, row := range rows {
		if row.Usable {
			if most = max(most, evens[i]); !sloped[i] {
				most = max(most, odds[i])
			}
		}
		noise[i] = most
	}
	return noise, sloped
}

// straightest returns the largest distance whose B/A is at most bends[0], or else at most bends[1].
// Otherwise it returns the distance with the least B/A below 1, or -1 if there is none. bend is the
// bound that was met, or the least B/A.
func straightest(rows []survey.Row, odds, noise []float64, sloped []bool) (best int, bend float64) {
	for _, bend := range bends {
		for i := len(rows) - 1; i >= 0; i-- {
			if sloped[i] && noise[i] <= bend*odds[i] {
				return i, bend
			}
		}
	}
	best, bend = -1, 1
	for i := range rows {
		if ratio := noise[i] / odds[i]; sloped[i] && ratio < bend {
			best, bend = i, ratio
		}
	}
	return best, bend
}

// steeper returns the largest distance beyond best that meets three conditions: A/mu is at least
// twice the A/mu at best, the even part is below half of A, and A is at least twice the A at the
// distance before. steeper returns best if no distance meets them, or best is -1. A loss that
// counts something, such as the steps until a controller fails, is a staircase with nearly level
// stairs. No convex loss has such a distance: if a convex loss gets that much steeper on one side,
// its even part is half of A or more.
func steeper(rows []survey.Row, odds, evens []float64, best int) int {
	far := best
	for i := best + 1; best >= 0 && i < len(rows); i++ {
		if rows[i].Usable && odds[i] >= 2*odds[i-1] && evens[i] < odds[i]/2 &&
			odds[i]/float64(rows[i].At) >= 2*odds[best]/float64(rows[best].At) {
			far = i
		}
	}
	return far
}

// surest returns the distance with the least B/mu, or -1 if no distance is usable.
func surest(rows []survey.Row, noise []float64) int {
	best, least := -1, math.Inf(1)
	for i, row := range rows {
		if wrong := noise[i] / float64(row.At); row.Usable && wrong < least {
			best, least = i, wrong
		}
	}
	return best
}

// rested returns the number of distances before the loss is level, plus 1. The loss is level where
// neither part grows to twice its value at the distance before. A loss that counts errors is level
// where the perturbation is larger than the parameters, because differences there depend on the
// direction alone. If the loss is level everywhere, as at parameters of zero, all distances count.
func rested(rows []survey.Row, odds, evens []float64) int {
	i := len(rows) - 1
	for i > 0 && rows[i-1].Usable && odds[i] < 2*odds[i-1] && evens[i] < 2*evens[i-1] {
		i--
	}
	if i == 0 || !rows[i].Usable {
		return len(rows)
	}
	return i + 1
}

// bent returns the number of distances before curvature exceeds the noise of the loss: before the
// even part is more than 16 times the largest even part at the four shortest distances, or more
// than 8 times that and 4 times the odd part. If these four even parts grow with the distance, by 8
// times from the first two to the next two, they are no noise, and bent returns the number of all
// distances.
func bent(rows []survey.Row, odds, evens []float64) int {
	var near []float64 // even parts at the shortest distances
	for i, row := range rows {
		switch {
		case !row.Usable:
		case len(near) < 4:
			near = append(near, evens[i])
		case max(near[2], near[3]) > 8*max(near[0], near[1]):
			return len(rows)
		case evens[i] > 16*slices.Max(near),
			evens[i] > 8*slices.Max(near) && evens[i] > 4*odds[i]:
			return i
		}
	}
	return len(rows)
}

// parts returns the medians of |a| and |b|, where a is value odd and b is value even of each
// answer. usable says whether the median of |a| is above 0.
func parts(values [][]float32, odd, even int) (a, b float64, usable bool) {
	var as, bs []float64
	for _, v := range values {
		x, y := math.Abs(float64(v[odd])), math.Abs(float64(v[even]))
		if !(x+y <= math.MaxFloat32) {
			x, y = 0, math.Inf(1)
		}
		as, bs = append(as, x), append(bs, y)
	}
	a, b = median(as), median(bs)
	return a, b, a > 0
}
