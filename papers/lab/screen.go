package lab

import (
	"fmt"
	"strings"

	"github.com/zofl/zofl/internal/chart"
	"github.com/zofl/zofl/papers/run"
)

// ScreenRun makes all clients of a run differentiate if the environment says so. The files of such
// a run are kept apart from those of a run of black boxes.
func (e *Env) ScreenRun(cfg *run.Config) {
	if !e.Screen {
		return
	}
	cfg.Differentiates = func(int) bool { return true }
	if cfg.Dir != "" {
		cfg.Dir += e.Apart()
	}
}

// Apart returns the part of a file name that keeps a screened run apart.
func (e *Env) Apart() string {
	if e.Screen {
		return "-screened"
	}
	return ""
}

// byGradients marks what gradients found.
const byGradients = "screened by gradients"

// MarkScreened marks a report, so that none of its numbers passes for a count of queries.
func (r *Report) MarkScreened() {
	r.Screened = true
	for i := range r.Claims {
		c := &r.Claims[i]
		c.Claim = strings.ReplaceAll(c.Claim, "queries", "spared queries")
		c.Figures = strings.ReplaceAll(c.Figures, "queries", "spared queries") +
			" (" + byGradients + ")"
	}
	for i, name := range r.Summary.Columns {
		r.Summary.Columns[i] = strings.ReplaceAll(name, "queries", "spared queries")
	}
	if c := r.Summary.Columns; len(c) > 0 {
		c[0] += ", " + byGradients
	}
	screened(&r.Figure)
	for i := range r.More {
		screened(&r.More[i])
	}
}

func screened(f *chart.Chart) {
	f.Title += ", " + byGradients
	f.X = strings.ReplaceAll(f.X, "queries", "spared queries")
}

// addGradients adds to the last rows of a table, one for each point of a curve, the gradients that
// clients computed instead of queries. A table without any such curve has no such columns.
func (t *Table) addGradients(points []run.Point) {
	const gradients, spared = "gradients", "spared_queries"
	has := len(t.Columns) > 0 && t.Columns[len(t.Columns)-1] == spared
	if !has {
		if len(points) == 0 || points[len(points)-1].Gradients == 0 {
			return
		}
		t.Columns = append(t.Columns, gradients, spared)
		for i := range t.Rows[:len(t.Rows)-len(points)] {
			t.Rows[i] = append(t.Rows[i], "0", "0")
		}
	}
	for i, p := range points {
		row := &t.Rows[len(t.Rows)-len(points)+i]
		*row = append(*row, fmt.Sprint(p.Gradients), fmt.Sprint(p.Spared))
	}
}
