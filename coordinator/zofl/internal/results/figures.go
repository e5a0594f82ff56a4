package results

import (
	"html/template"

	"github.com/zofl/zofl/coordinator/zofl/internal/history"
	"github.com/zofl/zofl/internal/chart"
)

// A figure is a chart of a page.
type figure struct {
	Title   string
	Picture template.HTML
	Legend  []key
}

// A key names a line of a figure in its legend.
type key struct{ Class, Name string }

func draw(c *chart.Chart) (figure, error) {
	f := figure{Title: c.Title}
	for i, l := range c.Lines {
		if l.Name != "" {
			f.Legend = append(f.Legend, key{c.Key(i), l.Name})
		}
	}
	var err error
	f.Picture, err = c.Inline()
	return f, err
}

// drawAll draws the charts that have points, and leaves out the others.
func drawAll(charts ...*chart.Chart) (figures []figure, err error) {
	for _, c := range charts {
		points := 0
		for _, l := range c.Lines {
			points += len(l.Points)
		}
		if points < 2 {
			continue
		}
		f, err := draw(c)
		if err != nil {
			return nil, err
		}
		figures = append(figures, f)
	}
	return figures, nil
}

// figures are the charts of a report.
func (r *Run) figures() ([]figure, error) {
	loss := r.Loss()
	byRound := axes[0].of
	charts := []*chart.Chart{{Title: "Training loss", X: "round", Lines: []chart.Line{
		{Points: loss.points(byRound), Faint: true},
		{Name: "mean of the last rounds", Points: loss.Smooth().points(byRound)},
	}, Rules: r.rules()}}
	for _, name := range r.Metrics() {
		m := r.Metric(name)
		for _, x := range axes {
			c := &chart.Chart{Title: name + " by " + x.Name, X: x.Name,
				Lines: []chart.Line{{Points: m.points(x.of)}}}
			if x.Name == axes[0].Name {
				c.Rules = r.rules()
			}
			charts = append(charts, c)
		}
	}
	count := func(name string, of func(*history.Point) float64) chart.Line {
		s := r.series(name, func(p *history.Point) *float64 {
			if v := of(p); p.IsRound() {
				return &v
			}
			return nil
		})
		return chart.Line{Name: name, Points: s.points(byRound)}
	}
	asked := count("asked", func(p *history.Point) float64 { return float64(p.Asked) })
	came := count("contributed", func(p *history.Point) float64 { return float64(p.Contributors) })
	declined := count("declined", func(p *history.Point) float64 { return float64(p.Declines) })
	seconds := count("", func(p *history.Point) float64 { return p.Seconds })
	step := count("", func(p *history.Point) float64 { return float64(p.RoundStep) })
	return drawAll(append(charts,
		&chart.Chart{Title: "Devices of a round", X: "round", Lines: []chart.Line{came, asked, declined}},
		&chart.Chart{Title: "Seconds of a round", X: "round", Lines: []chart.Line{seconds}},
		&chart.Chart{Title: "Step of a round", X: "round", Lines: []chart.Line{step}})...)
}

// rules are the events that can change the course of a curve, such as a rollback.
func (r *Run) rules() (rules []chart.Mark) {
	for _, m := range r.Marks {
		switch m.Kind {
		case history.Changed, history.RolledBack, history.Paused, history.Diverged, history.Resumed:
			rules = append(rules, chart.Mark{Point: chart.Point{X: float64(m.Round)},
				Title: string(m.Kind)})
		}
	}
	return rules
}

// figures are the charts of a comparison.
func (c *Comparison) figures() ([]figure, error) {
	var charts []*chart.Chart
	for _, x := range axes {
		charts = append(charts, &chart.Chart{Title: c.Measure + " by " + x.Name, X: x.Name,
			Lines: []chart.Line{{Name: c.A.From, Points: c.a.points(x.of)},
				{Name: c.B.From, Points: c.b.points(x.of)}}})
	}
	charts = append(charts, &chart.Chart{Title: "Training loss by round, smoothed", X: "round",
		Lines: []chart.Line{{Name: c.A.From, Points: c.A.Loss().Smooth().points(axes[0].of)},
			{Name: c.B.From, Points: c.B.Loss().Smooth().points(axes[0].of)}}})
	return drawAll(charts...)
}
