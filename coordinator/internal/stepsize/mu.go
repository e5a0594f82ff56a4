package stepsize

import (
	"fmt"
	"math"
	"slices"

	"github.com/zofl/zofl/wire/survey"
)

// bends are the largest B/A of a good mu, the best first: the even part of the loss along a
// direction is no more than this share of its odd part. The even part is the same along all
// directions, and does not fall as the loss does: a fifth of a difference at first may be twice
// that difference later. 0.02 leaves room for that, if the loss is fine enough.
var bends = []float64{0.02, 0.2}

// growth is the least factor by which the odd part of a straight loss grows from one distance to
// the next and to the one after it, which are ten and a hundred times as far. If it grows less, it
// is a jump of the loss, as rounding makes them, or noise. By chance a jump goes up as often as
// down, and is no slope.
var growth = []float64{2, 10}

// mu returns the largest distance at which the loss is straight enough. At distance i the devices'
// differences are a (odd part) and b (even part), of which
//
//	A = median |a|, over the devices
//	B = the largest median |b| at this or a shorter distance; and of A, where it is no slope
//
// A is no slope in three cases: it is more than half of the A at the next distance, less than twice
// the A at the distance before, or more than a tenth of the A two distances on. Where A is a slope,
// mu takes the largest distance with B/A at most 0.02. If there is none, it takes the largest with
// B/A at most 0.2, or otherwise the one with the least B/A if that is below 1. It may take a longer
// one that is [steeper]. If the least B/A is not below 1, mu takes the distance with the least
// B/mu, the error of a slope, before the loss is [bent]. No mu is longer than where the loss has
// [rested].
//
// An even part falls toward short distances unless it is noise. Noise is at all distances, and by
// chance small at one. With a root mean square, one device with a large number could decide
// everything. Half of the devices cannot do that to a median. A device whose loss at a distance is
// not finite counts as one with a = 0 and an infinite b there.
func mu(values [][]float32) survey.Result {
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
		if best = surest(rows[:bent(rows, evens)], noise); best < 0 {
			s.Why = "at no distance do half of the devices have two finite losses that differ: begin " +
				"at random parameters, or set mu"
			return s
		}
		s.Why = fmt.Sprintf("no even part is below the odd one; this has the least error of a slope, "+
			"%.2g for an odd part of %.2g", noise[best], odds[best])
	}
	s.Value = s.Rows[best].At
	return s
}

// noises returns B by distance, and where A is a slope. If the loss rests from the last distance
// on, A is no slope there, and that says nothing of shorter ones.
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

// straightest returns the largest distance whose B/A is within the first bound that any is within,
// or else that of the least below 1; -1 if none is. bend is the bound, or that B/A.
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

// steeper returns the largest distance beyond best at which A/mu is twice of that at best or more,
// the even part below half of A, and A at least twice of that at the distance before; best if there
// is none, or best is -1. A loss that counts something, such as the steps until a controller fails,
// has stairs, and each stair is nearly level. No convex loss has such a distance: if it gets that
// much steeper on one side, its even part is half of A or more.
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

// surest returns the distance with the least B/mu; -1 if there is none.
func surest(rows []survey.Row, noise []float64) int {
	best, least := -1, math.Inf(1)
	for i, row := range rows {
		if wrong := noise[i] / float64(row.At); row.Usable && wrong < least {
			best, least = i, wrong
		}
	}
	return best
}

// rested returns how many distances there are before the loss rests, and one more: beyond, neither
// part grows to twice what it is at the distance before. A loss that counts errors rests where
// the direction outweighs the parameters, and differences there see the direction alone. Of one
// that rests everywhere, as at parameters of zero, all distances count.
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

// bent returns how many distances there are before curvature outweighs the noise of the loss:
// before the even part is more than 16 times the largest at the four shortest distances. Where
// these grow with the distance, by 8 times from the first two to the next two, they are no noise,
// and all distances count.
func bent(rows []survey.Row, evens []float64) int {
	var near []float64 // even parts at the shortest distances
	for i, row := range rows {
		switch {
		case !row.Usable:
		case len(near) < 4:
			near = append(near, evens[i])
		case max(near[2], near[3]) > 8*max(near[0], near[1]):
			return len(rows)
		case evens[i] > 16*slices.Max(near):
			return i
		}
	}
	return len(rows)
}

// parts returns the medians of |a| and |b|, which are values odd and even of each answer. usable
// says whether a is not 0 on at least half of the devices.
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
