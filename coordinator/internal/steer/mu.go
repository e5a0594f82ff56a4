package steer

import (
	"fmt"
	"math"
	"slices"

	"github.com/zofl/zofl/wire/survey"
)

// bends are the largest B/A of a good mu, the best first: the even part of the loss along a
// direction is no more than this share of its odd part. The even part is the same along all
// directions, and does not fall as the loss does: what is a fifth of a difference at first may be
// twice that difference later. With 0.02 there is room for that, where the loss is fine enough.
var bends = []float64{0.02, 0.2}

// growth is by how much a straight loss's odd part grows at least from one distance to the next,
// which is ten times as far. Where it does not, it is a jump of the loss, as rounding makes them. A
// jump may be as high up as down, by chance, and is no slope.
const growth = 2

// mu returns the largest distance at which the loss is straight enough. At distance i the devices'
// differences are a (odd part) and b (even part), of which
//
//	A = median |a|, B = median |b|, over the devices
//
// It takes the largest mu with B/A at most 0.02 where A is not 0, if there is none that with B/A at
// most 0.2, and if there is none either, that of the least B/A. Distances at which A is more than
// half of that at the next come after all others. One device with a large number could make a root
// mean square anything. Half of the devices can not make a median so. A device whose loss is not
// finite at a distance counts as one with a = 0 and b infinite there.
func mu(values [][]float32) survey.Result {
	s := survey.Result{}
	var ratios, odds []float64
	for i, at := range survey.Distances() {
		odd, even, usable := parts(values, 1+i, 1+len(survey.Distances())+i)
		row, ratio := survey.Row{At: at}, math.Inf(1)
		if usable && !math.IsInf(even, 0) {
			row = survey.Row{At: at, Usable: true, Odd: float32(odd), Even: float32(even)}
			ratio = even / odd
		}
		s.Rows, ratios, odds = append(s.Rows, row), append(ratios, ratio), append(odds, odd)
	}
	best, bend := straightest(withoutJumps(ratios, odds))
	if best < 0 || bend > bends[len(bends)-1] {
		best, bend = straightest(ratios)
	}
	switch {
	case best < 0:
		s.Why = "no distance moves a finite loss on half of the devices: set mu"
	case bend > bends[len(bends)-1]:
		s.Value = s.Rows[best].At
		s.Why = fmt.Sprintf("no even part is below %v of the odd one; this has the least, %.2g of it",
			bends[len(bends)-1], bend)
	default:
		s.Value = s.Rows[best].At
		s.Why = fmt.Sprintf("the largest whose even part is at most %v of the odd one", bend)
	}
	return s
}

// withoutJumps returns the ratios, infinite where the odd part does not grow to the next distance.
func withoutJumps(ratios, odds []float64) []float64 {
	kept := slices.Clone(ratios)
	for i := range len(kept) - 1 {
		if !math.IsInf(ratios[i+1], 0) && odds[i+1] < growth*odds[i] {
			kept[i] = math.Inf(1)
		}
	}
	return kept
}

// straightest returns which of B/A, by distance, to take, and the bound that it is within, itself
// if none; -1 if all are infinite.
func straightest(ratios []float64) (best int, bend float64) {
	for _, bend := range bends {
		for i := len(ratios) - 1; i >= 0; i-- {
			if ratios[i] <= bend {
				return i, bend
			}
		}
	}
	best, bend = -1, math.Inf(1)
	for i, ratio := range ratios {
		if ratio < bend {
			best, bend = i, ratio
		}
	}
	return best, bend
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
