package dashboard

import (
	"strings"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/planfile"
)

// A planView holds the fields of a run's plan.
type planView struct {
	Rounds  uint64   `json:"rounds"` // 0: without an end
	Metrics []string `json:"metrics"`
	Fields  []field  `json:"fields"`
	Changed []string `json:"changed"` // fields that changed since this program leads the run
}

// A field is one field of the plan, with its value in the form of a plan file.
type field struct {
	Name       string   `json:"name"`
	Value      string   `json:"value"`
	Set        bool     `json:"set,omitempty"` // not zero
	Doc        string   `json:"doc"`
	Range      string   `json:"range,omitempty"`
	Choices    []string `json:"choices,omitempty"`
	Changeable bool     `json:"changeable,omitempty"`
}

// secrets are fields that the page does not show.
var secrets = map[string]bool{"run_key": true, "key_check": true}

// planOf returns the fields of a plan, and which of them differ from the original plan.
func planOf(p, original *plan.Plan) planView {
	out := planView{Rounds: p.Rounds, Metrics: append([]string{}, p.Metrics...), Changed: []string{}}
	now, before := values(p), values(original)
	for _, f := range plan.Fields() {
		if secrets[f.Name] {
			continue
		}
		v, set := now[f.Name]
		if !set {
			v = zeroOf(f)
		}
		// A value that devices found does not count as changed: the original plan said "auto".
		base, auto := strings.CutSuffix(f.Name, "_auto")
		found := auto && before[base] == "auto"
		if now[f.Name] != before[f.Name] && !found {
			out.Changed = append(out.Changed, f.Name)
		}
		out.Fields = append(out.Fields, field{Name: f.Name, Value: v, Set: set, Doc: f.Doc,
			Range: f.Range(), Choices: choices(f), Changeable: f.Changeable})
	}
	return out
}

// values returns the values of the fields that are not zero, by field name.
func values(p *plan.Plan) map[string]string {
	list, err := planfile.Values(p)
	if err != nil {
		return nil // only a number that is not finite, which no plan has
	}
	m := make(map[string]string, len(list))
	for _, v := range list {
		m[v.Field.Name] = strings.Trim(v.JSON, `"`)
	}
	return m
}

// choices returns the names that the value of a field can have.
func choices(f plan.Field) (names []string) {
	for _, c := range f.Choices() {
		if c != "" {
			names = append(names, c)
		}
	}
	return names
}

// zeroOf returns the text for the zero value of a field.
func zeroOf(f plan.Field) string {
	switch f.Form() {
	case "choice":
		return f.Choice(0)
	case "list":
		return "[]"
	case "text", "hex":
		return ""
	}
	return "0"
}
