package plancheck

import (
	"reflect"
	"slices"
	"sync"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/plan/valid"
)

// A setting is a field and its value, as text.
type setting struct{ name, value string }

func (s setting) String() string { return s.name + "=" + s.value }

// A try is a plan with some settings.
type try struct {
	plan     plan.Plan
	settings []setting
	cost     int
}

// Limits of the search.
const (
	mostSettings = 10
	mostTries    = 400
)

// cure returns the fewest settings that let p run, at most "most" of them, and none of a field for
// which kept returns true. cure searches the plans with one more setting at a time, the cheapest
// first. For each plan cure considers only the fault that the fewest settings cure. If no setting
// cures that fault, cure gives up the plan.
func cure(p *plan.Plan, most int, kept func(name string) bool) ([]setting, bool) {
	open := []try{{plan: *p}}
	for range mostTries {
		if len(open) == 0 {
			return nil, false
		}
		least := 0
		for i := range open {
			if open[i].cost < open[least].cost {
				least = i
			}
		}
		t := open[least]
		open = slices.Delete(open, least, least+1)
		faults := valid.Faults(&t.plan)
		if len(faults) == 0 {
			return t.settings, true
		}
		if len(t.settings) < most {
			open = append(open, t.next(faults, kept)...)
		}
	}
	return nil, false
}

// next returns the tries with one more setting that cure one fault of t. next chooses the fault
// that the fewest settings cure.
func (t *try) next(faults []valid.Fault, kept func(name string) bool) []try {
	cures := make([][]try, len(faults))
	list := candidates()
	for i := range list {
		c := &list[i]
		reads := func(f valid.Fault) bool { return f.Reads(c.field.Name) }
		if kept(c.field.Name) || t.has(c.field.Name) || !slices.ContainsFunc(faults, reads) {
			continue
		}
		q := t.with(c)
		if q == nil {
			continue
		}
		for i := range faults {
			if reads(faults[i]) && !faults[i].Refuses(&q.plan) {
				cures[i] = append(cures[i], *q)
			}
		}
	}
	for i := range cures {
		own := len(cures[i]) > 0
		cures[i] = append(cures[i], t.nearest(&faults[i], own, kept)...)
	}
	return slices.MinFunc(cures, func(a, b []try) int { return len(a) - len(b) })
}

func (t *try) has(name string) bool {
	return slices.ContainsFunc(t.settings, func(s setting) bool { return s.name == name })
}

// with returns t with one more setting, or nil if the plan has the setting already or cannot have
// it.
func (t *try) with(c *candidate) *try {
	q := &try{plan: t.plan}
	if c.change.Apply(&q.plan); same(c.field, &t.plan, &q.plan) || c.field.Check(&q.plan) != nil {
		return nil
	}
	q.after(t, setting{c.field.Name, c.value})
	return q
}

// after sets the settings and the cost of q: those of t, and one more setting.
func (q *try) after(t *try, s setting) {
	q.settings = append(slices.Clip(t.settings), s)
	q.cost = t.cost + costOf(s.name)
}

// costOf returns the cost of a setting in the search. A setting that changes the plan more costs
// more.
func costOf(name string) int {
	switch name {
	case "sharing", "transport", "roster":
		return 4
	case "steps", "perturbations", "members", "target", "quorum":
		return 6
	}
	return 3
}

// A candidate is a setting that the search tries.
type candidate struct {
	field  plan.Field
	value  string
	change plan.Change
}

// candidates returns all choices of each field that is a choice. For other fields candidates
// returns the usual value and the value that switches the field off. A number for mu or step
// switches mu_auto or step_auto off.
var candidates = sync.OnceValue(func() (list []candidate) {
	for _, f := range plan.Fields() {
		if f.Section == "run" || f.Name == "mu_auto" || f.Name == "step_auto" {
			continue
		}
		for _, value := range values(f) {
			c := candidate{field: f, value: value}
			if planfile.Set(&c.change.Values, f.Name, value) != nil {
				continue
			}
			c.change.Fields = []uint64{f.Number}
			if auto, ok := plan.FieldNamed(f.Name + "_auto"); ok {
				c.change.Fields = append(c.change.Fields, auto.Number)
			}
			list = append(list, c)
		}
	}
	return list
})

func values(f plan.Field) (list []string) {
	switch f.Form() {
	case "choice":
		for _, name := range f.Choices() {
			if name != "" {
				list = append(list, name)
			}
		}
		return list
	case "text":
		if list = []string{""}; f.Name != "best" { // its usual value needs no other field
			return list
		}
	case "list":
		list = append(list, "[]")
	case "number", "whole number":
		list = append(list, "0")
	}
	if f.Usual != "" {
		list = slices.Insert(list, 0, f.Usual)
	}
	return list
}

// same reports whether two plans have the same value of a field.
func same(f plan.Field, p, q *plan.Plan) bool {
	return reflect.DeepEqual(f.At(p), f.At(q))
}
