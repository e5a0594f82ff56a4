package simulate

import (
	"strconv"
	"strings"

	"github.com/zofl/zofl/internal/chart"
)

// A plot is a chart and the name of its file.
type plot struct {
	name  string
	chart *chart.Chart
}

// plots returns a chart of the losses by round and, for each field with several values, a chart of
// the losses at the end by value. Runs that differ only in their seed share a line.
func plots(axes []Axis, runs []*Run) []plot {
	list := []plot{{"loss", curves(runs)}}
	for i, a := range axes {
		if len(a.Values) > 1 {
			list = append(list, plot{fileOf(a.Field), byValue(axes, i, runs)})
		}
	}
	return list
}

// fileOf returns the file name of a field's plot. It differs from the name of the curves' plot.
func fileOf(field string) string { return "by-" + field }

// mostPoints bounds the points of a curve. If a run has more rounds, curves averages the losses of
// neighboring rounds.
const mostPoints = 300

// curves returns the chart of losses by round.
func curves(runs []*Run) *chart.Chart {
	c := &chart.Chart{Title: "Training loss by round", X: "round", Y: "loss"}
	highest := Number(0)
	for _, r := range runs {
		if r.Outcome.First.finite() {
			highest = max(highest, 4*r.Outcome.First)
		}
	}
	for _, group := range grouped(runs, -1) {
		longest := 0
		for _, r := range group.runs {
			longest = max(longest, len(r.Rows))
		}
		width := longest/mostPoints + 1
		l := chart.Line{Name: group.name}
		for from := 0; from < longest; from += width {
			var mean average
			x := 0.0
			for _, r := range group.runs {
				for _, row := range r.Rows[min(from, len(r.Rows)):min(from+width, len(r.Rows))] {
					if highest > 0 && row.Loss > highest {
						continue // the run diverges: its losses would hide the other curves
					}
					mean.add(row.Loss)
					x = float64(row.Round)
				}
			}
			if mean.n > 0 {
				l.Points = append(l.Points, chart.Point{X: x, Y: mean.value()})
			}
		}
		c.Lines = append(c.Lines, l)
	}
	return c
}

// byValue returns the chart of losses at the end by the value of an axis: a mark for each run, and
// lines through their means, one for each choice of the other fields' values.
func byValue(axes []Axis, axis int, runs []*Run) *chart.Chart {
	a := axes[axis]
	c := &chart.Chart{Title: "Loss at the end by " + a.Field, X: a.Field, Y: "loss"}
	at := places(a.Values)
	for i, v := range at {
		c.Ticks = append(c.Ticks, chart.Tick{At: v, Text: a.Values[i]})
	}
	c.LogX = chart.Spread(at) >= 10 // values side by side start at place 0, which has no logarithm
	for _, group := range grouped(runs, axis) {
		l := chart.Line{Name: group.name}
		means := make([]average, len(a.Values))
		for _, r := range group.runs {
			for i, value := range a.Values {
				if r.Settings[axis].Value != value {
					continue
				}
				if title := r.Name + ": " + r.Outcome.Ended; r.Outcome.Loss.finite() &&
					r.Outcome.Done() && r.Outcome.Rounds > 0 {
					means[i].add(r.Outcome.Loss)
					l.Marks = append(l.Marks, chart.Mark{
						Point: chart.Point{X: at[i], Y: float64(r.Outcome.Loss)}, Title: title})
				} else if r.Outcome.Ended != "" {
					c.Failed = append(c.Failed, chart.Mark{Point: chart.Point{X: at[i]}, Title: title})
				}
			}
		}
		for i, m := range means {
			if m.n > 0 {
				l.Points = append(l.Points, chart.Point{X: at[i], Y: m.value()})
			}
		}
		c.Lines = append(c.Lines, l)
	}
	return c
}

// places returns the positions of values on an axis. If all values are numbers, these numbers are
// the positions. Otherwise the values stand side by side.
func places(values []string) []float64 {
	var at, beside []float64
	for i, text := range values {
		beside = append(beside, float64(i))
		if v, err := strconv.ParseFloat(text, 64); err == nil && Number(v).finite() {
			at = append(at, v)
		}
	}
	if len(at) < len(values) {
		return beside
	}
	return at
}

// A group holds the runs with the same settings. The comparison of settings may ignore one field.
type group struct {
	name string
	runs []*Run
}

// grouped puts runs with the same settings into groups, in the order of the runs. grouped ignores
// the setting with index without.
func grouped(runs []*Run, without int) (groups []*group) {
	byName := make(map[string]*group)
	for _, r := range runs {
		var parts []string
		for i, s := range r.Settings {
			if i != without {
				parts = append(parts, s.String())
			}
		}
		name := strings.Join(parts, " ")
		g := byName[name]
		if g == nil {
			g = &group{name: name}
			byName[name] = g
			groups = append(groups, g)
		}
		g.runs = append(g.runs, r)
	}
	return groups
}

// An average is a mean of the finite values.
type average struct {
	sum float64
	n   int
}

func (a *average) add(v Number) {
	if v.finite() {
		a.sum += float64(v)
		a.n++
	}
}

func (a *average) value() float64 { return a.sum / float64(a.n) }
