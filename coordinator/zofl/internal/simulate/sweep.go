package simulate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zofl/zofl/fleet"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/planfile"
)

// An Axis is a field of the plan and the values that it takes in turn.
type Axis struct {
	Field  string
	Values []string // as planfile.Set reads them
}

// A Setting is a field and one of its values.
type Setting struct{ Field, Value string }

func (s Setting) String() string { return s.Field + "=" + s.Value }

// ParseAxis reads FIELD=VALUE,VALUE,... Commas within brackets or braces belong to a value.
func ParseAxis(text string) (Axis, error) {
	field, values, found := strings.Cut(text, "=")
	a := Axis{Field: field}
	if !found || field == "" || values == "" {
		return a, fmt.Errorf("%q: write FIELD=VALUE,VALUE, such as step=1e-3,1e-2", text)
	}
	depth, from := 0, 0
	for i, c := range values + "," {
		switch {
		case c == '[' || c == '{':
			depth++
		case c == ']' || c == '}':
			depth--
		case c == ',' && depth <= 0:
			value := strings.TrimSpace(values[from:i])
			if from = i + 1; value == "" || slices.Contains(a.Values, value) {
				return a, fmt.Errorf("%q: the value %q is empty or there twice", text, value)
			}
			a.Values = append(a.Values, value)
		}
	}
	if depth != 0 {
		return a, fmt.Errorf("%q: a bracket is not closed", text)
	}
	return a, nil
}

// cross returns every choice of one value of each axis, the last axis fastest.
func cross(axes []Axis) [][]Setting {
	all := [][]Setting{nil}
	for _, a := range axes {
		var longer [][]Setting
		for _, settings := range all {
			for _, value := range a.Values {
				longer = append(longer, append(slices.Clone(settings), Setting{a.Field, value}))
			}
		}
		all = longer
	}
	return all
}

// apply returns the plan with settings. It lowers fields that would make a round wait for more
// devices than the run has.
func apply(p *plan.Plan, settings []Setting) (*plan.Plan, error) {
	changed := *p
	for _, s := range settings {
		if err := planfile.Set(&changed, s.Field, s.Value); err != nil {
			return nil, err
		}
	}
	for _, f := range plan.Fields() { // before devices are made: a field sets their number
		if err := f.Check(&changed); err != nil {
			return nil, err
		}
	}
	if changed.Target > changed.Members {
		fleet.Fit(&changed)
	}
	changed.Quorum = min(changed.Quorum, changed.Target)
	return &changed, nil
}

// nameOf returns the name of a run, which is also the name of its files. All runs of one simulation
// have different names.
func nameOf(settings []Setting, seed uint64, number int) string {
	var parts []string
	for _, s := range settings {
		parts = append(parts, s.String())
	}
	name := strings.Join(append(parts, fmt.Sprint("seed=", seed)), ",")
	plain := strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' ||
			strings.ContainsRune("=,.+-_", c) {
			return c
		}
		return '_'
	}, name)
	if plain == name && len(name) <= 120 {
		return name
	}
	return fmt.Sprintf("%d,%s", number, plain[:min(len(plain), 120)])
}
