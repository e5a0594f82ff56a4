package plan

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/plan/preset"
)

// A fieldLine is a field of a plan in JSON.
type fieldLine struct {
	Name       string `json:"name"`
	Section    string `json:"section"`
	Doc        string `json:"doc"`
	Unit       string `json:"unit,omitempty"`
	Values     string `json:"values"`
	Default    string `json:"default,omitempty"` // of the preset zofl
	Changeable bool   `json:"changeable"`        // during a run
	number     uint64
}

// Widths of columns whose text is broken into lines, so that a table has at most 100 columns.
const (
	nameAndMeaning = 46
	valuesWidth    = 18
	defaultWidth   = 10
)

// printFields lists the fields of a plan: of one section, or of all.
func printFields(out io.Writer, section string, asJSON bool) error {
	names := sectionNames()
	if section != "" && !slices.Contains(names, section) {
		return cli.Usage(fmt.Errorf("--fields %s: no section has this name: choose one of %s", section,
			strings.Join(names, ", ")))
	}
	defaults, err := defaultValues()
	if err != nil {
		return err
	}
	var list []fieldLine
	for _, s := range plan.Sections() {
		if section != "" && s.Name != section {
			continue
		}
		var lines []fieldLine
		for _, f := range s.Fields() {
			lines = append(lines, fieldLine{f.Name, s.Name, f.Doc, f.Unit, values(f), defaults[f.Name],
				f.Changeable, f.Number})
		}
		if list = append(list, lines...); !asJSON {
			printSection(out, s, lines)
		}
	}
	if asJSON {
		slices.SortFunc(list, func(a, b fieldLine) int { return cmp.Compare(a.number, b.number) })
		return json.NewEncoder(out).Encode(map[string]any{"fields": list})
	}
	fmt.Fprintln(out, "The default is that of the preset zofl; an empty one is 0, or off. "+
		"* can change in a run.")
	if section == "" {
		fmt.Fprintln(out, cli.Wrapped("One section: zofl plan --fields SECTION, of "+
			strings.Join(names, ", ")+".", helpWidth))
	}
	return nil
}

func printSection(out io.Writer, s plan.Section, lines []fieldLine) {
	fmt.Fprintf(out, "%s: %s\n", s.Name, s.Doc)
	t := cli.NewTable(out, "field", "meaning", "unit", "values", "default")
	widest := 0
	for i := range lines {
		if lines[i].Changeable {
			lines[i].Name += " *"
		}
		widest = max(widest, len(lines[i].Name))
	}
	for _, l := range lines {
		t.AppendRow(table.Row{l.Name, cli.Wrapped(l.Doc, nameAndMeaning-widest),
			cli.Wrapped(l.Unit, defaultWidth),
			cli.Wrapped(l.Values, valuesWidth), cli.Wrapped(l.Default, defaultWidth)})
	}
	t.Render()
	fmt.Fprintln(out)
}

func sectionNames() (names []string) {
	for _, s := range plan.Sections() {
		names = append(names, s.Name)
	}
	return names
}

// defaultValues returns the fields of a new plan of preset zofl, without the fields of the section
// run.
func defaultValues() (map[string]string, error) {
	p, err := preset.New("zofl", "run", 1)
	if err != nil {
		return nil, err
	}
	list, err := planfile.Values(p)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for _, v := range list {
		if v.Field.Section != "run" {
			out[v.Field.Name] = strings.Trim(v.JSON, `"`)
		}
	}
	return out, nil
}

// values returns the values that a field can have.
func values(f plan.Field) string {
	if r := f.Range(); r != "" {
		return strings.TrimPrefix(r, "one of ")
	}
	return f.Form()
}
