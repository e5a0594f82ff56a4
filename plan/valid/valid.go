// Package valid decides whether a plan can run.
//
// Every device, replica and coordinator calls [Plan] with a plan that it receives. Package
// plancheck explains to the author of a plan why package valid refuses the plan; devices do not
// link plancheck.
//
// Each section of a plan has a file with its rules. A rule about two sections is in the file of the
// section that a plan could switch off.
package valid

import "github.com/zofl/zofl/plan"

// Plan returns nil for a plan that can run. Otherwise Plan returns a [*plan.Error] about the first
// field at fault. Package plancheck can explain the error.
func Plan(p *plan.Plan) (first error) {
	judge(p, func(f Fault) bool {
		first = f.Error
		return false
	})
	return first
}

// A Fault is one rule's refusal of a plan.
type Fault struct {
	rule interface {
		refuses(*plan.Plan) bool
		reads(field string) bool
	}
	*plan.Error
}

// Refuses reports whether the rule of f refuses another plan too.
func (f *Fault) Refuses(p *plan.Plan) bool { return f.rule.refuses(p) }

// Reads reports whether the rule of f may read a field, or read whether devices find the field's
// value. A change of a field that the rule does not read does not change what the rule says.
func (f *Fault) Reads(field string) bool { return f.rule.reads(field) }

// Faults returns a fault for each rule that refuses p, in the order in which [Plan] tries them. If
// a field is beyond its own limits, Faults lists only faults of this kind.
func Faults(p *plan.Plan) (list []Fault) {
	judge(p, func(f Fault) bool {
		list = append(list, f)
		return true
	})
	return list
}

// Wording is the text of a rule whose text does not depend on the plan.
type Wording struct{ Section, Field, What string }

// Words returns the wording of each rule whose text does not depend on the plan, in the order in
// which [Plan] tries the rules.
func Words() (list []Wording) {
	for _, r := range rules() {
		if r.own == nil {
			list = append(list, Wording{r.section, r.at, r.what})
		}
	}
	return list
}

// judge calls yield with the fault of each rule that refuses p, until yield returns false. The
// limits of single fields come first, by number. judge tries the other rules only if all fields are
// within their limits.
func judge(p *plan.Plan, yield func(Fault) bool) {
	good := true
	for i := range fields {
		if err := fields[i].check(p); err != nil {
			if good = false; !yield(Fault{&fields[i], err}) {
				return
			}
		}
	}
	if !good {
		return
	}
	list := rules()
	for i := range list {
		if err := list[i].check(p); err != nil && !yield(Fault{&list[i], err}) {
			return
		}
	}
}
