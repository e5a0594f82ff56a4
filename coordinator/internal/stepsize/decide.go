package stepsize

import (
	"fmt"
	"math"
	"slices"

	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire/survey"
)

// These constants are the numbers of fields among [plan.Fields].
const (
	fieldMu       = 12
	fieldStep     = 18
	fieldLossUnit = 114
)

// Decide returns the outcome of a survey after the given number of rounds, and the change of the
// plan that follows. values has an answer of [survey.Kind.Values] numbers for each device. If no
// value works, ok is false and found says why. If devices found no step because no loss changed
// along the move, the change is [runlog.NotFound]: rounds go on without a move.
func Decide(p *plan.Plan, rounds uint64, k survey.Kind,
	values [][]float32) (found survey.Result, change *plan.Change, ok bool) {
	change = &plan.Change{}
	switch k {
	case survey.Step:
		var level bool
		found, level = step(values)
		change.Fields, change.Values.StepSize = []uint64{fieldStep}, found.Value
		if found.Value == 0 && level {
			change, ok = runlog.NotFound(p), true
			found.Why += fmt.Sprintf(": no step was found, and devices look again after round %d",
				again(rounds))
		}
	default:
		found = mu(values, p.Difference)
		change.Fields, change.Values.Mu = []uint64{fieldMu}, found.Value
		if rounds == 0 { // later m and V have slopes in the unit of before
			measure(p, &found, change)
		}
	}
	found.Kind, found.Answers = k.String(), uint32(len(values))
	return found, change, ok || found.Value > 0
}

// measure sets the plan's loss unit if half-precision numbers would hold slopes badly, or not at
// all. If the even part is not below the odd part, measure cannot know how large slopes are: with
// one device, the loss along the direction may by chance be level. With a unit from such a slope,
// all later slopes would be too large to send.
func measure(p *plan.Plan, found *survey.Result, change *plan.Change) {
	at := slices.IndexFunc(found.Rows, func(r survey.Row) bool { return r.At == found.Value })
	if at < 0 || !(found.Rows[at].Even < found.Rows[at].Odd) {
		return
	}
	slope := float64(found.Rows[at].Odd) / float64(found.Value)
	if unit := survey.LossUnit(p, slope); unit > 0 {
		change.Fields, change.Values.LossUnit = append(change.Fields, fieldLossUnit), unit
		found.Why += fmt.Sprintf("; slopes are about %.2g, so loss_unit=%g", slope, unit)
	}
}

// median sorts v, which is not empty, and returns the middle value, or the mean of the middle two.
func median(v []float64) float64 {
	slices.Sort(v)
	n := len(v)
	return (v[(n-1)/2] + v[n/2]) / 2
}

// Trimmed sorts v, which is not empty, and returns its mean without the lowest and the highest
// quarter. The number of values in a quarter is rounded down, but is at least 1 if v has three or
// more values.
func Trimmed(v []float64) float64 {
	mean, _ := trimmedError(v)
	return mean
}

// trimmedError returns [Trimmed] and its standard error, after Tukey and McLaughlin: the nearest
// remaining value replaces each value that Trimmed leaves out, and the standard error of that list
// is multiplied by len(v) over the number of remaining values. Of three values only one remains,
// and shows no error. The error is then the distance from that value to the nearer of the other
// two, so that a lying device cannot make the error large. The error is 0 for one value, and for
// values that are not finite.
func trimmedError(v []float64) (mean, doubt float64) {
	slices.Sort(v)
	n, cut := len(v), len(v)/4
	if n >= 3 {
		cut = max(cut, 1)
	}
	rest := v[cut : n-cut]
	for _, e := range rest {
		mean += e / float64(len(rest))
	}
	if n == 1 || mean-mean != 0 {
		return mean, 0
	}
	if n == 3 {
		return mean, min(v[2]-v[1], v[1]-v[0])
	}
	kept := slices.Clone(v)
	for i := range cut {
		kept[i], kept[n-1-i] = rest[0], rest[len(rest)-1]
	}
	middle, squares := 0.0, 0.0
	for _, e := range kept {
		middle += e / float64(n)
	}
	for _, e := range kept {
		squares += (e - middle) * (e - middle)
	}
	return mean, math.Sqrt(squares/float64(n-1)/float64(n)) * float64(n) / float64(len(rest))
}
