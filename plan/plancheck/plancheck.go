// Package plancheck explains to the author of a plan why it cannot run.
//
// [valid.Plan] decides, on every device, whether a plan can run, and
// says in a few words which of its fields do not go together. This package
// adds why, and what to do. It accepts and refuses exactly the same plans. A
// device does not link it.
package plancheck

import (
	"slices"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/valid"
)

// Validate is [valid.Plan], its error explained by [Explain].
func Validate(p *plan.Plan) error { return Explain(valid.Plan(p)) }

// Explain adds the reason and the way out to the [*plan.Error] of a
// combination of fields that cannot run. It returns every other error, one that
// wraps a PlanError too, and nil as they are.
func Explain(err error) error {
	fault, ok := err.(*plan.Error)
	if !ok {
		return err
	}
	for _, list := range [][]reason{denseReasons, scalarReasons, surrogateReasons,
		lateReasons, autoReasons, groupReasons, guardReasons, noiseReasons,
		secureReasons} {
		at := slices.IndexFunc(list, func(r reason) bool {
			return r.field == fault.Field && r.what == fault.Remedy
		})
		if at >= 0 {
			return &plan.Error{Field: fault.Field, Value: fault.Value, Remedy: list[at].text()}
		}
	}
	return err
}

// A reason belongs to the refusal of package valid that has its field and what.
type reason struct {
	field string
	what  string // what is refused, in the words of package valid
	why   string // one sentence; "" where what says it all
	do    string // settings that cure the plan
}

func (r *reason) text() string {
	if r.why == "" {
		return r.what + "; " + r.do
	}
	return r.what + ": " + r.why + "; " + r.do
}
