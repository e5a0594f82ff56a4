package stepsize

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/zofl/zofl/wire/survey"
)

// A line holds the devices' losses along the first averaged move, at each of [survey.Lengths].
type line struct {
	each        [][]float64 // by length: the devices' rises above the loss at x
	mean, doubt []float64   // of these, without the devices at either end
}

func lineOf(values [][]float32) *line {
	l := &line{}
	for i := range survey.Lengths() {
		rises := make([]float64, len(values))
		for d, v := range values {
			rises[d] = finiteOr(float64(v[1+i]))
		}
		l.each = append(l.each, rises)
		mean, doubt := trimmedError(slices.Clone(rises))
		l.mean, l.doubt = append(l.mean, mean), append(l.doubt, doubt)
	}
	return l
}

// rows returns the mean loss at each length, for display.
func (l *line) rows() (rows []survey.Row) {
	for i, at := range survey.Lengths() {
		row := survey.Row{At: at}
		if row.Usable = l.mean[i] <= math.MaxFloat32; row.Usable {
			row.Loss = float32(l.mean[i])
		}
		rows = append(rows, row)
	}
	return rows
}

// finite reports whether the mean loss is finite at any length.
func (l *line) finite() bool { return slices.Min(l.mean) <= math.MaxFloat32 }

// longest returns the longest of the lengths from..to-1 with a finite loss for which good returns
// true, or 0 if there is none.
func (l *line) longest(from, to int, good func(i int) bool) (value float32) {
	for i, at := range survey.Lengths()[:to] {
		if i >= from && l.mean[i] <= math.MaxFloat32 && good(i) {
			value = at
		}
	}
	return value
}

// humps is how many times the noise s a loss rises from its least at a hump. Among the ten shortest
// lengths, along which a noisy loss hardly changes, noise alone rises by more than 4 s in a quarter
// to a half of all surveys, and by more than 8 s in one of 40 with one device, and fewer with more.
const humps = 8

// longestNear returns the longest length whose loss exceeds the least loss by at most twice the
// noise s.
func (l *line) longestNear(s float64) (value float32) {
	least, end := l.valley(humps * s)
	most := min(0, l.mean[least]) + 2*s
	if value = l.longest(least, end, func(i int) bool { return l.mean[i] <= most }); value == 0 {
		value = l.longest(least, least+1, func(int) bool { return true })
	}
	return value
}

// A loss becomes level at a length if at most the share rest of its fall lies beyond, and the step
// that would be chosen is at least plateau times as long. A parabola has no two such lengths that
// differ by a factor of 16.
const (
	rest    = 0.05
	plateau = 16
)

// rests returns the shortest length beyond which the loss falls by at most the share rest of its
// fall. rests returns 0 if the noise s would hide that, or if the loss does not fall.
func (l *line) rests(s float64) float32 {
	least, _ := l.valley(humps * s)
	fall := -l.mean[least]
	if !(2*s < rest*fall) {
		return 0
	}
	at := slices.IndexFunc(l.mean, func(mean float64) bool { return mean <= (rest-1)*fall })
	return survey.Lengths()[at]
}

// If a parabola is lower at a length than at a quarter and at four times of that length, its lowest
// point is at 0.625 to 2.5 times the length. middle is the geometric mean of 0.625 and 2.5.
const middle = 1.25

// nearly is the share of the fall from which on a loss counts as becoming level.
const nearly = 0.8

// refined returns the lowest point of the parabola through the losses at a length and at its two
// neighbors, divided by [middle] and rounded to three digits. refined returns the length itself
// unless the loss at each neighbor is higher by more than most. If the shorter neighbor has nearly
// all of the fall, the result is at most the length.
func (l *line) refined(length float32, most float64) float32 {
	i := slices.Index(survey.Lengths(), length)
	if i < 1 || i+1 == len(l.mean) {
		return length
	}
	left, right := l.mean[i-1]-l.mean[i], l.mean[i+1]-l.mean[i]
	if !(left > most && right > most) {
		return length
	}
	// The slopes of the parabola at 0.625 and at 2.5 of the length, halfway to the neighbors.
	falls, rises := left/0.75, right/3
	at := 0.625 + (2.5-0.625)*falls/(falls+rises)
	if l.mean[i-1] <= nearly*l.mean[i] {
		at = min(at, middle)
	}
	text := strconv.FormatFloat(float64(length)*at/middle, 'g', 3, 64)
	fine, _ := strconv.ParseFloat(text, 32)
	return float32(fine)
}

// within returns the longest length that raises the loss by at most e. If no length does, within
// tries 2 e and then 4 e, and returns 0 if no length satisfies these either.
func (l *line) within() (value float32) {
	for k := 1.0; k <= 4 && value == 0; k *= 2 {
		value = l.longest(0, l.top()+1, func(i int) bool {
			return l.doubt[i] > 0 && l.mean[i] <= k*l.doubt[i]
		})
	}
	return value
}

// top returns the shortest length from which on the loss is finite and level, or the longest
// length. A loss that is level at all lengths shows nothing, so top then returns the longest
// length.
func (l *line) top() int {
	last := len(l.mean) - 1
	end := l.mean[last]
	if end-end != 0 {
		return last
	}
	within := 0.1 * (slices.Max(l.mean) - slices.Min(l.mean))
	i := last
	for i > 0 && math.Abs(l.mean[i-1]-end) <= within {
		i--
	}
	return cmp.Or(i, last)
}

// fallsForSure reports whether the loss at some length is below the loss at x by more than twice e.
// With one device, e is unknown, and fallsForSure uses twice the noise s.
func (l *line) fallsForSure(s float64) bool {
	for i, mean := range l.mean {
		if len(l.each[i]) == 1 && mean < -2*s || len(l.each[i]) > 1 && mean < -2*l.doubt[i] {
			return true
		}
	}
	return false
}

// straight returns the longest length up to which the loss is nearly linear: twice its difference
// from its linear part is at most that linear part or the doubt. straight returns 0 if the loss has
// no slope, or is nearly linear at all lengths, so that no length is known to be too long.
func (l *line) straight() (value float32) {
	slope, from := l.slope()
	for i, at := range survey.Lengths() {
		part := slope * float64(at)
		if i >= from && !(2*(l.mean[i]-part) <= max(math.Abs(part), l.doubt[i])) {
			return value
		}
		if slope != 0 {
			value = at
		}
	}
	return 0
}

// level bounds the relative error of "four times the length has four times the rise" within a cone.
const level = 0.002

// cone returns the length up to which the loss rises in proportion to the length, or 0 if the loss
// does not rise so. At an edge of the loss, such as a hinge loss of many classes has at zero, all
// moves go uphill. The length of that cone is then the only information about the size of steps.
func (l *line) cone() float32 {
	_, from := l.slope()
	even := 0 // lengths in a row that have four times the rise of the one before
	for i := from; i+1 < len(l.mean); i++ {
		sure := l.mean[i] > 2*l.doubt[i]
		switch bend := math.Abs(l.mean[i+1]/(4*l.mean[i]) - 1); {
		case sure && bend <= level:
			even++
		case sure && even >= 2:
			return survey.Lengths()[i]
		default:
			even = 0
		}
	}
	return 0
}

// slope returns the slope of the loss at x, and the first of three lengths that show the slope:
// from each of them to the next, the loss rises or falls about four times as much, so it neither
// jumps nor is rounded. slope returns 0 if there are no three such lengths.
func (l *line) slope() (slope float64, from int) {
	near := func(i int) bool { q := l.mean[i+1] / l.mean[i]; return q > 3 && q < 6 }
	for i := range len(l.mean) - 2 {
		if near(i) && near(i+1) {
			at := float64(survey.Lengths()[i])
			return (16*l.mean[i] - l.mean[i+1]) / (12 * at), i // of k a + h a^2/2, at a and 4 a
		}
	}
	return 0, 0
}

// valley returns the length with the least loss, and the first longer length where the loss exceeds
// the least by more than most, or the number of lengths if there is none. A lower loss beyond such
// a hump counts as the least only if devices agree on it.
func (l *line) valley(most float64) (least, end int) {
	hump := false
	for i, mean := range l.mean {
		switch {
		case mean < l.mean[least] && (!hump || l.below(i, least)):
			least, hump = i, false
		case mean > l.mean[least]+most && !hump:
			end, hump = i, true
		}
	}
	if !hump {
		end = len(l.mean)
	}
	return least, end
}

// below reports whether the loss at length at is below the loss at length other by more than twice
// the error of the devices' differences.
func (l *line) below(at, other int) bool {
	falls := make([]float64, len(l.each[at]))
	for d := range falls {
		falls[d] = finiteOr(l.each[at][d] - l.each[other][d])
	}
	mean, doubt := trimmedError(falls)
	return mean < -2*doubt
}
