// Package plancheck explains to the author of a plan why it cannot run.
//
// [valid.Plan] decides, on every device, whether a plan can run, and
// says in a few words which of its fields do not go together. This package
// adds why, and what to do, which it finds by trying: the rules themselves say which
// settings let the plan run. It accepts and refuses exactly the same plans. A
// device does not link it.
package plancheck

import (
	"cmp"
	"slices"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/valid"
)

// Validate does what [valid.Plan] does, but its error also gives the reason and the remedy: other
// settings with which the plan runs, or presets that accept its author's fields. The author's
// fields are those that differ from the plan's preset.
func Validate(p *plan.Plan) error {
	err := valid.Plan(p)
	if err == nil {
		return nil
	}
	return explain(err, p, authorOf(p))
}

// ValidateChange is [Validate] for a plan that a change has made in a run. It offers no field that
// is fixed for the whole run.
func ValidateChange(p *plan.Plan, c *plan.Change) error {
	err := valid.Plan(p)
	if err == nil {
		return nil
	}
	return explain(err, p, changer(c))
}

// explain adds to the [*plan.Error] of a plan that cannot run why, and what to do.
func explain(err error, p *plan.Plan, a *author) error {
	fault, ok := err.(*plan.Error)
	if !ok {
		return err
	}
	r := reasonOf(fault)
	text := fault.Remedy
	if r.why != "" {
		text += ": " + r.why
	}
	do := a.remedy(p)
	if do == "" {
		do = cmp.Or(r.do, a.concession(p))
	}
	if do != "" {
		text += "; " + do
	}
	return &plan.Error{Field: fault.Field, Value: fault.Value, Remedy: text}
}

// reasonOf returns the reason of a fault, which is empty where the fault says it all.
func reasonOf(fault *plan.Error) (r reason) {
	at := slices.IndexFunc(reasons, func(r reason) bool {
		return r.field == fault.Field && r.what == fault.Remedy
	})
	if at >= 0 {
		r = reasons[at]
	}
	return r
}

// A reason belongs to the refusal of package valid that has its field and what.
type reason struct {
	field string
	what  string // what is refused, in the words of package valid
	why   string // one sentence; "" where what says it all
	do    string // what to do where no setting helps
}

var reasons = slices.Concat(modelReasons, denseReasons, scalarReasons, surrogateReasons,
	lateReasons, autoReasons, groupReasons, guardReasons, noiseReasons, secureReasons)
