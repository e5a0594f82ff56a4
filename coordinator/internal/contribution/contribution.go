// Package contribution reads the numbers of contributions, and refuses numbers that no honest
// device sends.
package contribution

import (
	"github.com/zofl/zofl/coordinator/internal/gather"
	"github.com/zofl/zofl/coordinator/internal/perclass"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/stats"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/survey"
)

// A Checker reads the messages of the devices of a run. Each method returns as fault the counter of
// the fault that it found, or nil.
type Checker struct {
	Plan     *plan.Plan
	Counters *report.Counters
	None     bool // contributions have no scalars: they are vectors, or masked
}

// Scalars reads a contribution into dst: a block of scalars for each step, or for each class where
// the plan has classes.
func (d *Checker) Scalars(dst *[]float32, r *wire.Reply, steps, perturbations int) (fault *uint64) {
	slope, good := float32(0), d.Plan.StepAuto == 0 || d.Plan.ServerRule == plan.ServerCMA
	if len(r.Rest) > 0 {
		if _, control := r.Control(); !control { // which no answer to a survey has, and no slope
			slope, good = d.slopeOf(r.Rest)
		}
	}
	size := steps * d.Plan.Precision.Bytes(perturbations)
	switch {
	case !good:
		return &d.Counters.WrongSurvey
	case d.None, d.Plan.Classes == 0 && len(r.Values) != size:
		return &d.Counters.WrongCount
	}
	switch largest, ok := d.read(dst, r.Values, steps, perturbations); {
	case !ok:
		return &d.Counters.Malformed
	case !gather.Finite(r.Loss), !gather.Finite(largest), !gather.Finite(slope):
		return &d.Counters.NonFinite
	case largest > d.Plan.MaxScalar:
		return &d.Counters.TooLarge
	}
	return nil
}

// slopeOf returns the slope after the scalars of a contribution. good is false if rest answers a
// survey, or lacks the slope that the plan asks for.
func (d *Checker) slopeOf(rest []byte) (slope float32, good bool) {
	slope, ok := survey.SlopeOf(rest)
	return slope, survey.Answered(rest) == survey.None && (ok || d.Plan.StepAuto == 0 ||
		d.Plan.ServerRule == plan.ServerCMA)
}

// read decodes blocks of P scalars into the memory of dst, and returns the largest |v| as
// [gather.Read] does. ok is false if the scalars do not have the plan's form.
func (d *Checker) read(dst *[]float32, s wire.Scalars, blocks, p int) (largest float32, ok bool) {
	switch precision := d.Plan.Precision; {
	case d.Plan.Classes > 0:
		return perclass.Read(dst, d.Plan, s, p)
	case precision.Fits(s, blocks, p):
		return gather.Read(dst, precision, s, blocks, p), true
	}
	return 0, false
}

// Survey reads the answer to a survey into dst. A loss may be infinite far from the model, so only
// the loss at the model must be finite.
func (d *Checker) Survey(dst *[]float32, r *wire.Reply, kind survey.Kind) (fault *uint64) {
	switch {
	case survey.Answered(r.Rest) != kind:
		return &d.Counters.WrongSurvey
	case plan.Single.Len(r.Values) != kind.ValuesOf(d.Plan), d.Plan.Summed():
		return &d.Counters.WrongCount
	}
	largest := gather.Read(dst, plan.Single, r.Values, 1, kind.ValuesOf(d.Plan))
	if kind == survey.Columns {
		return d.columns(*dst)
	}
	sketch := kind == survey.Sketch // of which every number is a slope
	switch {
	case !gather.Finite(r.Loss), !gather.Finite((*dst)[0]), sketch && !gather.Finite(largest):
		return &d.Counters.NonFinite
	case sketch && largest > d.Plan.MaxScalar:
		return &d.Counters.TooLarge
	case sketch && !perclass.Sketches(d.Plan, *dst):
		return &d.Counters.Malformed
	}
	return nil
}

// columns checks the statistics of a device's data.
func (d *Checker) columns(values []float32) (fault *uint64) {
	if _, ok := stats.Read(values); !ok {
		return &d.Counters.Malformed
	}
	return nil
}

// Vector checks a complete vector.
func (d *Checker) Vector(u *wire.Upload, data []byte) (fault *uint64) {
	if wire.HashObject(data) != u.Digest {
		return &d.Counters.WrongDigest
	}
	switch largest := gather.Largest(data); {
	case !gather.Finite(largest):
		return &d.Counters.NonFinite
	case largest > d.Plan.MaxScalar:
		return &d.Counters.TooLarge
	}
	return nil
}

// Control reads a contribution's control variate into dst, and returns the variate with its record,
// or 0 for the record if there is none, because a device that has never contributed has no variate.
// In phase 2 all devices have one. scalars returns how many scalars a variate along a record has;
// ok is false if no variate can be along that record.
func (d *Checker) Control(dst *[]float32, r *wire.Reply, phase uint8,
	scalars func(n uint64) (scalars int, ok bool)) (v wire.ControlVariate, fault *uint64) {
	ok := false
	if len(r.Rest) > 0 {
		v, ok = r.Control()
	}
	if !ok {
		if phase == 2 {
			fault = &d.Counters.WrongControl
		}
		return wire.ControlVariate{}, fault
	}
	precision := d.Plan.Precision
	want, ok := scalars(v.N)
	if !ok || precision.Len(v.Scalars) != want {
		return v, &d.Counters.WrongControl
	}
	if largest := gather.Read(dst, precision, v.Scalars, 1, want); !(largest <= d.Plan.MaxScalar) {
		return v, &d.Counters.WrongControl // a NaN compares false
	}
	return v, nil
}
