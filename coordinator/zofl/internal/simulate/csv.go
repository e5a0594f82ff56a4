package simulate

import (
	"encoding/csv"
	"errors"
	"fmt"
	"os"
	"strconv"
)

// A table is a CSV file. Each line is on disk before the next begins.
type table struct {
	file    *os.File
	out     *csv.Writer
	columns []string
}

func newTable(name string, columns []string) (*table, error) {
	file, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	t := &table{file, csv.NewWriter(file), columns}
	return t, t.line(columns)
}

// write writes a line of cells by their columns' names. A cell may be missing.
func (t *table) write(cells map[string]any) error {
	var texts []string
	for _, name := range t.columns {
		texts = append(texts, cell(cells[name]))
	}
	return t.line(texts)
}

func (t *table) line(cells []string) error {
	err := t.out.Write(cells)
	t.out.Flush()
	return errors.Join(err, t.out.Error())
}

func (t *table) close() error { return t.file.Close() }

// cell returns a value as text. A value that is not a number is left empty.
func cell(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case Number:
		if !v.finite() {
			return ""
		}
		return strconv.FormatFloat(float64(v), 'g', -1, 64)
	}
	return fmt.Sprint(v)
}

// settingKey and metricKey are names of columns, which no other column has.
func settingKey(field string) string { return "settings." + field }
func metricKey(name string) string   { return "metrics." + name }

// columnsOf returns columns for the run, its seed, the fields of the sweep, then more, then the
// metrics.
func columnsOf(axes []Axis, metrics []string, more ...string) []string {
	list := []string{"run", "seed"}
	for _, a := range axes {
		list = append(list, settingKey(a.Field))
	}
	list = append(list, more...)
	for _, name := range metrics {
		list = append(list, metricKey(name))
	}
	return list
}

func rowColumns(axes []Axis, metrics []string) []string {
	return columnsOf(axes, metrics, "round", "loss", "contributors", "step", "mu", "perturbations",
		"queries", "up", "down", "seconds")
}

func runColumns(axes []Axis, metrics []string) []string {
	return columnsOf(axes, metrics, "rounds", "loss_first", "loss", "queries", "up", "down",
		"seconds", "ended", "error")
}

// cellsOf returns the cells that all lines of a run have.
func cellsOf(r *Run, metrics map[string]Number) map[string]any {
	cells := map[string]any{"run": r.Name, "seed": r.Seed}
	for _, s := range r.Settings {
		cells[settingKey(s.Field)] = s.Value
	}
	for name, v := range metrics {
		cells[metricKey(name)] = v
	}
	return cells
}

func rowCells(r *Run, row Row) map[string]any {
	cells := cellsOf(r, row.Metrics)
	for name, v := range map[string]any{"round": row.Round, "loss": row.Loss,
		"contributors": row.Contributors, "step": row.Step, "mu": row.Mu,
		"perturbations": row.Perturbations, "queries": row.Queries, "up": row.Up, "down": row.Down,
		"seconds": row.Seconds} {
		cells[name] = v
	}
	return cells
}

func runCells(r *Run) map[string]any {
	o := r.Outcome
	cells := cellsOf(r, o.Metrics)
	for name, v := range map[string]any{"rounds": o.Rounds, "loss_first": o.First, "loss": o.Loss,
		"queries": o.Queries, "up": o.Up, "down": o.Down, "seconds": o.Seconds, "ended": o.Ended} {
		cells[name] = v
	}
	if o.Err != nil {
		cells["error"] = o.Err
	}
	return cells
}
