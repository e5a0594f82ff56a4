package valid

import (
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/zofl/zofl/plan"
)

// A rule refuses plans. A rule applies to the plans for which all terms of when hold. Of these
// plans the rule refuses a plan for which a term of needs does not hold, or for which but returns
// false, or for which own returns an error. A rule without needs, but and own refuses all plans to
// which it applies.
//
// A term is the name of a field, which must not be zero, or a comparison of a field: late,
// control=none, pool>=2, quorum<=target. In a term the value of a list, text or bytes is its
// length.
type rule struct {
	when, needs string
	but         func(p *plan.Plan) bool
	own         func(p *plan.Plan) error // words the error itself

	// at is the field that the error names; "": the first field of when.
	at string
	// what says in a few words what is wrong. The words are unique for a field, because package
	// plancheck uses them as the key of the reason and the remedy. "": the words follow from needs.
	what string

	section         string
	concerns, holds []term // the terms of when, and of needs
}

// ruleSections are the rules of each section, in the order in which judge tries them.
var ruleSections = []struct {
	name  string
	rules []rule
}{
	{"run", runRules}, {"model", modelRules}, {"probe", probeRules}, {"local", localRules},
	{"server", serverRules}, {"surrogate", surrogateRules}, {"aggregate", aggregateRules},
	{"late", lateRules}, {"groups", groupsRules}, {"robust", robustRules},
	{"privacy", privacyRules}, {"rounds", roundsRules}, {"evaluation", evaluationRules},
	{"stop", stopRules},
}

// rules are the rules about more than a field's own limits, in the order in which judge tries them.
var rules = sync.OnceValue(func() (list []rule) {
	for _, s := range ruleSections {
		for _, r := range s.rules {
			r.section = s.name
			list = append(list, r)
		}
	}
	for i := range list {
		r := &list[i]
		r.concerns, r.holds = parsed(r.when), parsed(r.needs)
		if r.at == "" && r.when != "" {
			r.at = r.concerns[0].field.Name
		}
		if r.what == "" && r.own == nil {
			r.what = r.words()
		}
	}
	return list
})

// only returns rules by which a plan may set the given fields only if the terms of needs hold.
func only(needs string, fields ...string) (list []rule) {
	for _, name := range fields {
		list = append(list, rule{when: name, needs: needs})
	}
	return list
}

func (r *rule) check(p *plan.Plan) *plan.Error {
	if !r.refuses(p) {
		return nil
	}
	if r.own != nil {
		return r.own(p).(*plan.Error)
	}
	return &plan.Error{Field: r.at, Value: text(p, r.at), Remedy: r.what}
}

func (r *rule) refuses(p *plan.Plan) bool {
	switch {
	case !hold(r.concerns, p):
		return false
	case r.own != nil:
		return r.own(p) != nil
	case r.but != nil:
		return !r.but(p)
	}
	return r.needs == "" || !hold(r.holds, p)
}

func (r *rule) reads(field string) bool {
	return r.own != nil || r.but != nil || read(r.concerns, field) || read(r.holds, field)
}

func read(terms []term, field string) bool {
	return slices.ContainsFunc(terms, func(t term) bool {
		return t.field.Name == field || t.field.Name == field+"_auto" ||
			t.other != nil && t.other.Name == field
	})
}

// words says what the field that the error names needs or excludes. If that field is not the first
// of when, words says what when needs or excludes.
func (r *rule) words() string {
	subject, verb := "it", " needs "
	if r.concerns[0].field.Name != r.at {
		subject = r.when
	}
	if strings.Contains(r.needs, "!=") {
		verb = " excludes "
	}
	return subject + verb + strings.NewReplacer("_auto!=on", "=auto", " "+r.at+"<", " and below ",
		"!=", "=", " ", ", ", ">=", " of at least ", ">", " above ", "<", " below ").Replace(r.needs)
}

// A term is a comparison of a field with a number, or with another field.
type term struct {
	field *plan.Field
	op    string
	value float64
	other *plan.Field // nil: value
}

var fieldsByName = sync.OnceValue(func() map[string]*plan.Field {
	byName := map[string]*plan.Field{}
	for i := range fields {
		byName[fields[i].Name] = &fields[i].Field
	}
	return byName
})

// parsed returns the terms of a rule. parsed panics if a field or value does not exist, because
// this package then has a fault.
func parsed(text string) (list []term) {
	for _, s := range strings.Fields(text) {
		t := term{op: "!="}
		name, value := s, "0"
		if at := strings.IndexAny(s, "!<>="); at >= 0 {
			rest := strings.TrimLeft(s[at:], "!<>=")
			name, t.op, value = s[:at], s[at:len(s)-len(rest)], rest
		}
		if t.field = fieldsByName()[name]; t.field == nil {
			panic("valid: internal error: no field " + name)
		}
		t.compareWith(value)
		list = append(list, t)
	}
	return list
}

// compareWith sets the right side of a term: a choice, a number or a field.
func (t *term) compareWith(value string) {
	if choice := slices.Index(t.field.Choices(), value); choice >= 0 {
		t.value = float64(choice)
		return
	}
	bits := 64
	if t.field.Form() == "number" {
		bits = 32
	}
	number, err := strconv.ParseFloat(value, bits)
	t.value, t.other = number, fieldsByName()[value]
	if err != nil && t.other == nil {
		panic("valid: internal error: " + t.field.Name + " is never " + value)
	}
}

func hold(terms []term, p *plan.Plan) bool {
	for i := range terms {
		if !terms[i].holds(p) {
			return false
		}
	}
	return true
}

func (t *term) holds(p *plan.Plan) bool {
	has, than := t.field.Measure(p), t.value
	if t.other != nil {
		than = t.other.Measure(p)
	}
	switch t.op {
	case "=":
		return has == than
	case "!=":
		return has != than
	case ">":
		return has > than
	case ">=":
		return has >= than
	case "<":
		return has < than
	}
	return has <= than
}

// A fieldRule keeps a field within its own limits.
type fieldRule struct{ plan.Field }

func (r *fieldRule) check(p *plan.Plan) *plan.Error {
	err, _ := r.Check(p).(*plan.Error)
	return err
}

func (r *fieldRule) refuses(p *plan.Plan) bool { return r.Check(p) != nil }

func (r *fieldRule) reads(field string) bool { return field == r.Name }

var fields = func() (list []fieldRule) {
	for _, f := range plan.Fields() {
		list = append(list, fieldRule{f})
	}
	return list
}()

func fault(field string, value any, remedy string) error {
	return &plan.Error{Field: field, Value: value, Remedy: remedy}
}

// text returns the value of a field in the form that plan files use.
func text(p *plan.Plan, name string) any {
	f := fieldsByName()[name]
	switch v := f.At(p).(type) {
	case *uint8:
		return f.Choice(*v)
	case *uint32:
		return *v
	case *uint64:
		return *v
	case *float32:
		return *v
	case *string:
		return *v
	case *plan.Bytes:
		return *v
	case *[]plan.Box:
		return *v
	case *[]string:
		return *v
	case *[]plan.Column:
		return *v
	case *[]plan.PerturbationPoint:
		return *v
	}
	panic("valid: internal error: a rule that names " + name)
}
