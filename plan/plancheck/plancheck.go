// Package plancheck explains to the author of a plan why the plan cannot run.
//
// [valid.Plan] decides, on every device, whether a plan can run, and says in a few words which
// fields exclude each other. Package plancheck adds the reason and the remedy. To find a remedy the
// package tries other settings and asks the rules of package valid whether the plan then runs.
// Package plancheck accepts exactly the plans that package valid accepts. Devices do not link
// plancheck.
package plancheck

import (
	"cmp"
	"slices"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/valid"
)

// Validate is [valid.Plan] with an error that also gives the reason and the remedy: other settings
// with which the plan runs, or presets that accept its author's fields. The author's fields are the
// fields that differ from the plan's preset.
func Validate(p *plan.Plan) error {
	err := valid.Plan(p)
	if err == nil {
		return nil
	}
	return explain(err, p, authorOf(p))
}

// ValidateChange is [Validate] for the plan that results from a change during a run. Its remedies
// set no field that is fixed for the whole run.
func ValidateChange(p *plan.Plan, c *plan.Change) error {
	err := valid.Plan(p)
	if err == nil {
		return nil
	}
	return explain(err, p, changer(c))
}

// explain adds the reason and the remedy to the [*plan.Error] of a plan that cannot run.
func explain(err error, p *plan.Plan, a *author) error {
	fault, ok := err.(*plan.Error)
	if !ok {
		return err
	}
	text := fault.Remedy
	if why := of(fault, reasons); why != "" {
		text += ": " + why
	}
	do := a.remedy(p)
	if do == "" {
		do = cmp.Or(of(fault, byHand), a.concession(p))
	}
	if do != "" {
		text += "; " + do
	}
	return &plan.Error{Field: fault.Field, Value: fault.Value, Remedy: text}
}

// of returns the entry of a list for a fault, or "" if the fault needs none.
func of(fault *plan.Error, list []reason) string {
	at := slices.IndexFunc(list, func(r reason) bool {
		return r.field == fault.Field && r.what == fault.Remedy
	})
	if at < 0 {
		return ""
	}
	return list[at].why
}

// A reason belongs to the rule of package valid with the same field and fault text. The reasons of
// each section are in a file of their own, like the rules.
type reason struct {
	field string
	what  string // text of the fault in package valid
	why   string // one sentence
}

var reasons = slices.Concat(modelReasons, probeReasons, localReasons, serverReasons,
	aggregateReasons, surrogateReasons, lateReasons, groupsReasons, robustReasons, privacyReasons,
	roundsReasons)

// byHand says what an author must do where no setting is a remedy.
var byHand = []reason{
	{"initial_digest", "give the 32-byte digest of the parameters; replica.InitialDigest computes it",
		"begin with --initial FILE, which writes it"},
	{"key_scheme", "leave it out: the run key is no secret",
		"make the plan with --secret FILE, which sets it"},
	{"secure_lists", "it needs secure=sum", "make the plan with --secret FILE and set secure=sum"},
	{"secure_lists", "devices agree by a secret", "make the plan with --secret FILE"},
	{"distribution", "distribution=lowrank needs a segment with rows",
		`give its rows to each matrix, such as segments=[{"name":"weight","len":7840,"rows":10}]`},
	{"mu", "probe distance in parameter units: choose 1e-18..1e+18",
		"or set mu=auto, and devices find it"},
	{"step", "step size of the plan: choose 1e-18..1e+18",
		"or set step=auto server_rule=normalized, and devices find it"},
}
