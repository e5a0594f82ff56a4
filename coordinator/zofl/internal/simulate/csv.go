package simulate

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
)

// A table is a CSV file. write gives each line to the operating system before the next line begins.
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

// write encodes a value as JSON and writes its fields as one CSV line: a field in the column of its
// name, and a field of an object in the column OBJECT.FIELD. A column without a value, or with
// null, stays empty.
func (t *table) write(line any) error {
	b, err := json.Marshal(line)
	if err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber() // with all digits
	var fields map[string]any
	if err := d.Decode(&fields); err != nil {
		return err
	}
	cells := make([]string, len(t.columns))
	for i, column := range t.columns {
		name, part, _ := strings.Cut(column, ".")
		value := fields[name]
		if object, ok := value.(map[string]any); ok {
			value = object[part]
		}
		if value != nil {
			cells[i] = fmt.Sprint(value)
		}
	}
	return t.line(cells)
}

func (t *table) line(cells []string) error {
	err := t.out.Write(cells)
	t.out.Flush()
	return errors.Join(err, t.out.Error())
}

func (t *table) close() error { return t.file.Close() }

// columnsOf returns columns for the run, its seed, the fields of the sweep, then more, then the
// metrics.
func columnsOf(axes []Axis, metrics []string, more ...string) []string {
	list := []string{"run", "seed"}
	for _, a := range axes {
		list = append(list, "settings."+a.Field)
	}
	list = append(list, more...)
	for _, name := range metrics {
		list = append(list, "metrics."+name)
	}
	return list
}

func rowColumns(axes []Axis, metrics []string) []string {
	return columnsOf(axes, metrics, "round", "loss", "contributors", "step", "round_step", "mu",
		"perturbations", "queries", "up", "down", "seconds")
}

func runColumns(axes []Axis, metrics []string) []string {
	return columnsOf(axes, metrics, "rounds", "loss_first", "loss", "queries", "up", "down",
		"seconds", "ended", "error")
}
