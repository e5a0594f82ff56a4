package chart

import (
	"cmp"
	"fmt"
	"math"
)

// A scale maps values to pixels on an axis.
type scale struct {
	low, high float64 // logarithms, if log
	log       bool
	from, to  float64
}

// newScale returns a scale between two pixels that has room for values.
func newScale(values []float64, log bool, from, to float64) scale {
	s := scale{math.Inf(1), math.Inf(-1), log, from, to}
	for _, v := range values {
		if s.has(v) {
			s.low, s.high = min(s.low, s.in(v)), max(s.high, s.in(v))
		}
	}
	if !(s.low <= s.high) {
		s.low, s.high = 0, 1
	}
	room := cmp.Or(0.05*(s.high-s.low), 0.5)
	s.low, s.high = s.low-room, s.high+room
	return s
}

// has reports whether the chart can show a value. A run that diverged may have values that a chart
// cannot show.
func (s scale) has(v float64) bool {
	return !math.IsNaN(v) && !math.IsInf(v, 0) && (!s.log || v > 0)
}

func (s scale) in(v float64) float64 {
	if s.log {
		return math.Log10(v)
	}
	return v
}

// at returns the pixel of a value, to a tenth.
func (s scale) at(v float64) float64 {
	return math.Round(10*(s.from+(s.to-s.from)*(s.in(v)-s.low)/(s.high-s.low))) / 10
}

// place returns the marks that lie within the scale, with their positions in pixels.
func (s scale) place(marks []Mark) (placed []Mark) {
	for _, m := range marks {
		if v := s.in(m.X); v >= s.low && v <= s.high {
			placed = append(placed, Mark{Point{X: s.at(m.X)}, m.Title})
		}
	}
	return placed
}

// ticks returns values within the scale: round values, or six values that divide a logarithmic
// scale.
func (s scale) ticks() (values []float64) {
	if s.log {
		for i := range 6 {
			values = append(values, math.Pow(10, s.low+(s.high-s.low)*(1+4*float64(i))/22))
		}
		return values
	}
	step := math.Pow(10, math.Floor(math.Log10((s.high-s.low)/4)))
	for _, times := range []float64{5, 2} {
		if (s.high-s.low)/(times*step) >= 4 {
			step *= times
			break
		}
	}
	for v := math.Ceil(s.low / step); v*step <= s.high; v++ {
		values = append(values, v*step+0) // no -0
	}
	return values
}

// Spread returns the largest value divided by the smallest, or 0 if one is not positive. Spread
// skips values that are not finite.
func Spread(values []float64) float64 {
	low, high := math.Inf(1), 0.0
	for _, v := range values {
		if !math.IsNaN(v) && !math.IsInf(v, 0) {
			low, high = min(low, v), max(high, v)
		}
	}
	if !(low > 0) || high == 0 {
		return 0
	}
	return high / low
}

// Number writes a value for people.
func Number(v float64) string { return fmt.Sprintf("%.4g", v) }

// short formats a value for an axis: 35k for 35,000.
func short(v float64) string {
	switch size := math.Abs(v); {
	case size < 1e4 || size >= 1e12:
		return Number(v)
	case size < 1e6:
		return Number(v/1e3) + "k"
	case size < 1e9:
		return Number(v/1e6) + "M"
	}
	return Number(v/1e9) + "G"
}
