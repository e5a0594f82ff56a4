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
	Changed []string `json:"changed"` // since this program leads
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

// planOf returns a plan, and the changes since the original.
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
		// Of a value that devices found, "auto" was all that was said.
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

// values are the fields that are not zero, by their names.
func values(p *plan.Plan) map[string]string {
	list, err := planfile.Values(p)
	if err != nil {
		return nil // of a number that is not finite, which no plan has
	}
	m := make(map[string]string, len(list))
	for _, v := range list {
		m[v.Field.Name] = strings.Trim(v.JSON, `"`)
	}
	return m
}

// choices are the names of a choice.
func choices(f plan.Field) (names []string) {
	for _, c := range f.Choices() {
		if c != "" {
			names = append(names, c)
		}
	}
	return names
}

// zeroOf is the value of a field that is zero.
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
