package untouched

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/zofl/zofl/internal/chart"
)

var columns = []string{"task", "model", "parameters", "scale", "split", "devices", "drawn",
	"preset", "untouched", "field", "step", "seed", "rounds", "queries", "accuracy", "loss", "ended"}

// tabulate adds the row of a run to the table.
func (x *trial) tabulate(b *bench, c *cell, t *variant, seed uint64,
	s *score) {
	x.Report.Table.Add(b.Name, b.Model(), b.task.Dim, b.Scale, b.Split(), b.Devices, b.drawn,
		c.preset, t.untouched, t.field, t.step, seed, s.Rounds, s.Queries, s.Accuracy, s.Loss, s.Ended)
}

// conclude makes the summary and the figure. conclude makes claims about the presets that ran on
// all tasks.
func (x *trial) conclude() {
	summary := &x.Report.Summary
	summary.Columns = []string{"preset, untouched"}
	for _, t := range x.size.tasks {
		summary.Columns = append(summary.Columns, t.Name)
	}
	for _, name := range x.size.presets {
		row, line := []string{name}, chart.Line{Name: name}
		whole := true
		for i, t := range x.size.tasks {
			c := x.cells[name][t.Name]
			if c == nil {
				whole, row = false, append(row, "")
				continue
			}
			if c.ran() {
				line.Add(float64(i+1), c.gap())
			}
			text := c.text()
			if c.unfit == "" && !c.within() {
				text = "**" + text + "**"
			}
			row = append(row, text)
		}
		summary.Rows = append(summary.Rows, row)
		x.Report.Figure.Lines = append(x.Report.Figure.Lines, line)
		if whole {
			x.claim(name)
		}
	}
	summary.Rows = append(summary.Rows, x.tops())
}

// tops returns the row with the highest accuracy of any variant on each task. This row shows
// whether a preset that does as well as with its best step size is still far below other presets.
func (x *trial) tops() []string {
	row := []string{"the best of these"}
	for _, t := range x.size.tasks {
		text, most := "", math.Inf(-1)
		for _, name := range x.size.presets {
			c := x.cells[name][t.Name]
			if c == nil || !c.ran() {
				continue
			}
			for _, trial := range append(slices.Clone(c.grid), c.own) {
				if a := trial.accuracy(); a > most {
					text, most = fmt.Sprintf("%.1f, %s", 100*a, name), a
				}
			}
		}
		row = append(row, text)
	}
	return row
}

// claim adds the claim that a preset trains well without changes, on the tasks that suit its
// method.
func (x *trial) claim(name string) {
	good, tasks := 0, 0
	var each []string
	for _, t := range x.size.tasks {
		c := x.cells[name][t.Name]
		if c.unfit != "" {
			continue
		}
		tasks++
		if c.within() {
			good++
		} else {
			each = append(each, fmt.Sprintf("%s %s", t.Name, c.text()))
		}
	}
	if tasks == 0 {
		return
	}
	text := fmt.Sprintf("%d of %d tasks", good, tasks)
	if each != nil {
		text += "; not on " + strings.Join(each, "; ")
	}
	x.Report.Needs(x.size.rounds, usualRounds, "rounds")
	x.Report.Claim(good == tasks,
		fmt.Sprintf("%s untouched is within %g points of the best of %d steps", name,
			limit(name), len(x.size.powers)), "%s", text)
}
