package lab

import (
	"fmt"
	"strings"

	"github.com/zofl/zofl/internal/chart"
	"github.com/zofl/zofl/papers/run"
)

// ScreenRun lets all clients of a run give gradients if Env.Screen is set. The files of such a
// run have names different from those of a run with losses.
func (e *Env) ScreenRun(cfg *run.Config) {
	if !e.Screen {
		return
	}
	cfg.Differentiates = func(int) bool { return true }
	if cfg.Dir != "" {
		cfg.Dir += e.Apart()
	}
}

// Apart returns the part of a file name that distinguishes a screened run from other runs.
func (e *Env) Apart() string {
	if e.Screen {
		return "-screened"
	}
	return ""
}

// byGradients is the text that marks results of screened runs.
const byGradients = "screened by gradients"

// MarkScreened marks a report as screened, so that no reader mistakes its numbers for counts of
// real queries.
func (r *Report) MarkScreened() {
	r.Screened = true
	for i := range r.Claims {
		c := &r.Claims[i]
		c.Claim = strings.ReplaceAll(c.Claim, "queries", "spared queries")
		c.Figures = strings.ReplaceAll(c.Figures, "queries", "spared queries") +
			" (" + byGradients + ")"
		c.TooShort = strings.ReplaceAll(c.TooShort, "queries", "spared queries")
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

// addGradients adds the numbers of gradients that clients computed instead of queries to the last
// rows of a table, which has one row for each point of a curve. A table has columns for gradients
// only if clients computed gradients in some curve.
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
