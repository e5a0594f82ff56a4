package steer

import (
	"fmt"
	"math"

	"github.com/zofl/zofl/wire/survey"
)

// mostBend is the largest B/A of a good mu: the even part of the loss along a direction is no more
// than a fifth of its odd part.
const mostBend = 0.2

// mu returns the largest distance at which the loss is straight enough. At distance i the devices'
// differences are a (odd part) and b (even part), of which
//
//	A = median |a|, B = median |b|, over the devices
//
// It takes the largest mu with B/A at most 0.2 where A is not 0, and if there is none, that of the
// least B/A. The recipe has the root mean square in place of the median, which one device with a
// large number could make anything. Half of the devices can not. A device whose loss is not finite
// at a distance counts as one with a = 0 and b infinite there.
func mu(values [][]float32) survey.Result {
	s := survey.Result{}
	distances := survey.Distances()
	best, least := -1, math.Inf(1)
	for i, at := range distances {
		odd, even, usable := parts(values, 1+i, 1+len(distances)+i)
		row := survey.Row{At: at}
		if bend := even / odd; usable && !math.IsInf(even, 0) {
			row = survey.Row{At: at, Usable: true, Odd: float32(odd), Even: float32(even)}
			switch {
			case bend <= mostBend:
				best, least = i, 0
			case bend < least:
				best, least = i, bend
			}
		}
		s.Rows = append(s.Rows, row)
	}
	switch {
	case best < 0:
		s.Why = "no distance moves a finite loss on half of the devices: set mu"
	case least > 0:
		s.Value = distances[best]
		s.Why = fmt.Sprintf("no even part is below %v of the odd one; this has the least, %.2g of it",
			mostBend, least)
	default:
		s.Value = distances[best]
		s.Why = fmt.Sprintf("the largest whose even part is at most %v of the odd one", mostBend)
	}
	return s
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
