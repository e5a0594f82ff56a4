package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/preset"
)

func newTable(out io.Writer, header ...any) table.Writer {
	t := table.NewWriter()
	t.SetOutputMirror(out)
	t.SetStyle(table.StyleLight)
	if len(header) > 0 {
		t.AppendHeader(header)
	}
	return t
}

// explain prints where the plan comes from and what its fields say.
func explain(out io.Writer, p *wire.Plan) error {
	for _, info := range preset.List() {
		if info.Name == p.Preset {
			fmt.Fprintf(out, "%s: %s\n\n%s\n\n", info.Name, info.Source, info.Notes)
		}
	}
	values := map[string]json.RawMessage{}
	b, err := json.Marshal(p)
	if err == nil {
		err = json.Unmarshal(b, &values)
	}
	if err != nil {
		return err
	}
	t := newTable(out, "field", "value", "meaning")
	for _, f := range wire.Fields() {
		if value, set := values[f.Name]; set {
			t.AppendRow(table.Row{f.Name, string(value), f.Doc})
		}
	}
	t.Render()
	return nil
}

// price prints what a round costs.
func price(out io.Writer, p *wire.Plan, c wire.Cost) {
	t := newTable(out, "a round costs", "")
	t.AppendRow(table.Row{"loss evaluations of a device", c.Queries})
	t.AppendRows(phases(p, c))
	t.AppendRows([]table.Row{
		{"scalars of a device", c.Scalars},
		{"records and announcements", c.Records},
		{"bytes up, at the socket", c.Up.Socket},
		{"bytes down, at the socket", c.Down.Socket},
		{"bytes of the log, at most", c.Record},
		{"a model's bytes, for comparison", 4 * p.Dim},
		{"d-vectors of every replica", c.Vectors},
		{"more on a device at work", c.Local},
		{"device memory, flat loss", size(c.Flat)},
		{"device memory, streaming loss", size(c.Streaming)},
		{"coordinator memory", size(c.Coordinator)},
	})
	if p.Transport == wire.DenseVectors {
		t.AppendRow(table.Row{"vectors beside the log, at most", size(kept(p))})
	}
	t.Render()
}

// phases says what a device does for each of a round's records, where that differs or
// is a vector.
func phases(p *wire.Plan, c wire.Cost) (rows []table.Row) {
	list := []uint8{1, 2}
	if p.Phases() == 1 {
		list = []uint8{0}
	}
	for _, phase := range list {
		name, text := "", ""
		if phase > 0 {
			name, text = fmt.Sprintf("phase %d: ", phase), fmt.Sprintf("%d evaluations", p.PhaseQueries(phase, c.Perturbations))
		}
		if elements := p.Object(phase); elements > 0 {
			name += "vector up and down"
			text += fmt.Sprintf(", %d elements, %s", elements, size(4*elements))
		} else {
			name += "at work"
		}
		if text != "" {
			rows = append(rows, table.Row{name, strings.TrimPrefix(text, ", ")})
		}
	}
	return rows
}

// kept is the bytes of the vectors that a log keeps.
func kept(p *wire.Plan) uint64 {
	records := uint64(max(int(p.DenseKeep), p.Phases()))
	if p.Phases() == 1 {
		return 4 * records * p.Object(0)
	}
	return 4 * (records/2*p.Object(1) + (records+1)/2*max(p.Object(1), p.Object(2)))
}

func size(bytes uint64) string {
	switch {
	case bytes >= 1<<30:
		return fmt.Sprintf("%.2f GiB", float64(bytes)/(1<<30))
	case bytes >= 1<<20:
		return fmt.Sprintf("%.2f MiB", float64(bytes)/(1<<20))
	case bytes < 1<<10:
		return fmt.Sprintf("%d B", bytes)
	}
	return fmt.Sprintf("%.1f KiB", float64(bytes)/(1<<10))
}

func printFields(out io.Writer) {
	t := newTable(out, "field", "meaning", "values", "changes in a run")
	for _, f := range wire.Fields() {
		t.AppendRow(table.Row{f.Name, f.Doc, values(f), f.Changeable})
	}
	t.Render()
}

// values says what a field can be.
func values(f wire.Field) string {
	if r := f.Range(); r != "" {
		return r
	}
	return f.Form()
}
