package steer

import (
	"fmt"
	"slices"

	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/survey"
)

// Numbers of fields among [wire.Fields].
const (
	fieldMu       = 12
	fieldStep     = 18
	fieldLossUnit = 114
)

// Decide returns what a survey came to after so many rounds, and the change of the plan that
// follows. values has an answer for each device, of [survey.Kind.Values] numbers. ok is false if no
// value will do; the result then says why.
func Decide(p *wire.Plan, rounds uint64, k survey.Kind,
	values [][]float32) (found survey.Result, change *wire.Change, ok bool) {
	change = &wire.Change{}
	switch k {
	case survey.Step:
		found = step(values)
		change.Fields, change.Values.StepSize = []uint64{fieldStep}, found.Value
	default:
		found = mu(values)
		change.Fields, change.Values.Mu = []uint64{fieldMu}, found.Value
		if rounds == 0 { // later m and V have slopes in the unit of before
			measure(p, &found, change)
		}
	}
	found.Kind, found.Answers = k.String(), uint32(len(values))
	return found, change, found.Value > 0
}

// measure has the plan give slopes a unit where halves would hold them badly, or not at all.
func measure(p *wire.Plan, found *survey.Result, change *wire.Change) {
	at := slices.IndexFunc(found.Rows, func(r survey.Row) bool { return r.At == found.Value })
	if at < 0 {
		return
	}
	slope := float64(found.Rows[at].Odd) / float64(found.Value)
	if unit := survey.LossUnit(p, slope); unit > 0 {
		change.Fields, change.Values.LossUnit = append(change.Fields, fieldLossUnit), unit
		found.Why += fmt.Sprintf("; slopes are about %.2g, so loss_unit=%g", slope, unit)
	}
}

// median sorts v, which is not empty, and returns the mean of its middle two, or its middle one.
func median(v []float64) float64 {
	slices.Sort(v)
	n := len(v)
	return (v[(n-1)/2] + v[n/2]) / 2
}

// Trimmed sorts v, which is not empty, and returns its mean without a quarter at either end,
// rounded down, but without one at either end of three or more.
func Trimmed(v []float64) float64 {
	slices.Sort(v)
	cut := len(v) / 4
	if len(v) >= 3 {
		cut = max(cut, 1)
	}
	rest, sum := v[cut:len(v)-cut], 0.0
	for _, e := range rest {
		sum += e
	}
	return sum / float64(len(rest))
}
