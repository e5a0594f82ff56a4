package paper

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/zofl/zofl/testing/paper/run"
)

// errScreenMixed: an experiment is about who differentiates.
var errScreenMixed = errors.New("screen: this experiment compares gradients with losses: " +
	"leave out --screen")

// screen makes all clients of a training differentiate if the environment says so. Such a run
// is kept apart from one of black boxes.
func (e *Env) screen(cfg *run.Config) {
	if !e.Screen {
		return
	}
	cfg.Differentiates = func(int) bool { return true }
	if cfg.Dir != "" {
		cfg.Dir += e.apart()
	}
}

// apart returns what keeps the files of a screened run apart.
func (e *Env) apart() string {
	if e.Screen {
		return "-screened"
	}
	return ""
}

// byGradients marks what gradients found.
const byGradients = "screened by gradients"

// screened makes experiments mark the reports of screened trainings.
func screened(list []Experiment) []Experiment {
	for i := range list {
		whole := list[i].Run
		list[i].Run = func(ctx context.Context, e *Env) (*Report, error) {
			r, err := whole(ctx, e)
			if e.Screen && r != nil {
				r.markScreened()
			}
			return r, err
		}
	}
	return list
}

// markScreened marks a report, so that none of its numbers passes for a count of queries.
func (r *Report) markScreened() {
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
	r.Figure.markScreened()
	for i := range r.More {
		r.More[i].markScreened()
	}
}

func (f *Figure) markScreened() {
	f.Title += ", " + byGradients
	f.X = strings.ReplaceAll(f.X, "queries", "spared queries")
}

// addGradients adds to the last rows of a table, which are those of a curve's points, what
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
