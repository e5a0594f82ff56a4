package plancheck

import (
	"slices"
	"strings"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/preset"
	"github.com/zofl/zofl/plan/valid"
)

// remedy returns, as the end of a message, what makes a refused plan run: the fewest settings of
// fields that the plan's author has not set. If there are none, remedy returns the presets that
// accept all fields that the author has set. The result is "" if remedy finds neither, or if the
// author has set a field beyond its own limits, because the fault says that already.
func (a *author) remedy(p *plan.Plan) string {
	if beyondLimits(p, a.has) {
		return ""
	}
	if list, ok := cure(p, mostSettings, a.keeps); ok {
		return "set " + joined(list) + a.orLeaveOut(p)
	}
	if a.base == nil || len(a.set) == 0 {
		return ""
	}
	if can := a.presets(p); can != "" {
		return "preset " + p.Preset + " cannot: begin with " + can + a.orLeaveOut(p)
	}
	return ""
}

// concession returns the fewest settings that let a refused plan run, including settings of fields
// that the author has set: first only of the author's numbers, or else also of the author's
// choices. The result is "" if concession finds no settings, or if the author has set a field
// beyond its own limits.
func (a *author) concession(p *plan.Plan) string {
	if beyondLimits(p, a.has) {
		return ""
	}
	if list, ok := cure(p, mostSettings, a.keepsChoices); ok {
		return "set " + joined(list)
	}
	if list, ok := cure(p, mostSettings, a.keepsMethod); ok {
		return "set " + joined(list)
	}
	return ""
}

// beyondLimits reports whether a field for which of returns true is beyond its own limits.
func beyondLimits(p *plan.Plan, of func(name string) bool) bool {
	return slices.ContainsFunc(plan.Fields(),
		func(f plan.Field) bool { return of(f.Name) && f.Check(p) != nil })
}

// changer returns the author of a change in a running run: remedies may set only fields that can
// change during a run.
func changer(c *plan.Change) *author {
	a := &author{}
	for _, f := range plan.Fields() {
		if !f.Changeable || slices.Contains(c.Fields, f.Number) {
			a.set = append(a.set, f.Name)
		}
	}
	return a
}

func joined(list []setting) string {
	var b strings.Builder
	for i, s := range list {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(s.String())
	}
	return b.String()
}

// An author has set some fields of a plan, and the preset the rest.
type author struct {
	base *plan.Plan // the plan of the preset; nil: there is none
	set  []string
}

// authorOf returns the author of a plan: the author has set the fields that differ from the preset
// and from the bounds of [preset.Guard].
func authorOf(p *plan.Plan) *author {
	base, err := preset.Unbound(p.Preset, p.Run, p.Dim)
	if err != nil {
		a := &author{}
		for _, f := range plan.Fields() {
			if !f.IsZero(p) {
				a.set = append(a.set, f.Name)
			}
		}
		return a
	}
	a := &author{base: base}
	guarded := *base
	preset.Guard(&guarded)
	for _, f := range plan.Fields() {
		if f.Section != "run" && !same(f, p, base) && !same(f, p, &guarded) {
			a.set = append(a.set, f.Name)
		}
	}
	return a
}

func (a *author) has(name string) bool { return slices.Contains(a.set, name) }

// keeps reports whether a remedy may not change a field, because the author has set it or because
// it defines the preset's method.
func (a *author) keeps(name string) bool { return a.has(name) || a.keepsMethod(name) }

// keepsChoices is like keeps, but a remedy may change numbers and lists that the author has set.
func (a *author) keepsChoices(name string) bool {
	f, _ := plan.FieldNamed(name)
	return a.keepsMethod(name) || a.has(name) && f.Form() == "choice"
}

// keepsMethod reports whether a field defines the preset's method, so that another value would be
// another method.
func (a *author) keepsMethod(name string) bool {
	if a.base == nil || a.has(name) {
		return false
	}
	switch name {
	case "estimator", "control", "server_rule":
		return true
	case "rule":
		return a.base.Rule != plan.SGD
	}
	return false
}

// orLeaveOut returns the words that offer to leave out a field that the author has set, if the plan
// runs without that setting.
func (a *author) orLeaveOut(p *plan.Plan) string {
	if a.base == nil {
		return ""
	}
	for _, name := range a.set {
		q, left := *p, author{set: []string{name}}
		if left.apply(a.base, &q); valid.Plan(&q) == nil {
			return ", or leave out " + name
		}
	}
	return ""
}

// mostPresets is how many presets a remedy names.
const mostPresets = 3

// presets names the presets that accept the author's fields, the most similar first. If no preset
// accepts the fields, presets names the preset that needs the fewest other settings, and these
// settings.
func (a *author) presets(p *plan.Plan) string {
	others := a.others(p)
	var can []string
	for i := range others {
		if a.apply(p, &others[i]); valid.Plan(&others[i]) == nil && len(can) < mostPresets {
			can = append(can, others[i].Preset)
		}
	}
	if len(can) > 0 {
		return strings.Join(can, " or ")
	}
	most := mostSettings
	for i := range others {
		other := author{base: &others[i], set: a.set}
		if list, ok := cure(&others[i], most, other.keeps); ok {
			can, most = []string{others[i].Preset + " and set " + joined(list)}, len(list)-1
		}
	}
	return strings.Join(can, "")
}

// others returns the plans of all presets except the author's, the most similar first.
func (a *author) others(p *plan.Plan) (list []plan.Plan) {
	differ := map[string]int{}
	for _, name := range preset.Names() {
		if q, err := preset.Unbound(name, p.Run, p.Dim); err == nil && name != p.Preset {
			list, differ[name] = append(list, *q), unlike(a.base, q)
		}
	}
	slices.SortStableFunc(list, func(x, y plan.Plan) int {
		return differ[x.Preset] - differ[y.Preset]
	})
	return list
}

// unlike counts the fields in which two plans differ.
func unlike(p, q *plan.Plan) (n int) {
	for _, f := range plan.Fields() {
		if !same(f, p, q) {
			n++
		}
	}
	return n
}

// apply gives q the fields of p that the author has set.
func (a *author) apply(p, q *plan.Plan) {
	c := plan.Change{Values: *p}
	for _, name := range a.set {
		f, _ := plan.FieldNamed(name)
		c.Fields = append(c.Fields, f.Number)
	}
	c.Apply(q)
}
