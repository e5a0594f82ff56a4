// Package valid decides whether a plan can run.
//
// Every device, replica and coordinator asks it about a plan that it receives. Package
// plancheck, which a device does not link, explains its refusals to the author of a plan.
//
// Each section of a plan has a file with its rules. A rule between two sections stands with the one
// that the plan could switch off.
package valid

import "github.com/zofl/zofl/plan"

// Plan returns nil for a plan that can run. Otherwise it returns a [*plan.Error]
// about the first field at fault, which package plancheck can explain.
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

// Reads reports whether the rule of f may read a field, or whether devices find its value. If a
// field that the rule does not read changes, the rule refuses the plan as before.
func (f *Fault) Reads(field string) bool { return f.rule.reads(field) }

// Faults returns a fault for each rule that refuses p, in the order in which [Plan] tries them.
// Where a field is beyond its own limits, only such faults are listed.
func Faults(p *plan.Plan) (list []Fault) {
	judge(p, func(f Fault) bool {
		list = append(list, f)
		return true
	})
	return list
}

// Wording is what a rule says that always says the same.
type Wording struct{ Section, Field, What string }

// Words returns the wording of each rule whose words do not depend on the plan, in the order in
// which the rules are tried.
func Words() (list []Wording) {
	for _, r := range rules() {
		if r.own == nil {
			list = append(list, Wording{r.section, r.at, r.what})
		}
	}
	return list
}

// judge yields the fault of each rule that refuses p, until it is told to stop. The rules of
// single fields come first, by number: others may count on a field within its limits.
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
