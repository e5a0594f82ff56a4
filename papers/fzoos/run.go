package fzoos

import (
	"fmt"
	"slices"

	"github.com/zofl/zofl/internal/chart"
	"github.com/zofl/zofl/papers/contest"
	"github.com/zofl/zofl/papers/lab"
)

// A boxRun is a running experiment on black boxes.
type boxRun struct {
	*lab.Trial
	size  size
	shown []string // titles of the problems that have figures
}

// train runs a method with one of its step sizes for seeds first to last. After an error train
// returns the results so far.
func (x *boxRun) train(t *boxTask, c contest.Method, step float32,
	first, last int) (*boxCurve, error) {
	curve := &boxCurve{Method: c, step: step, task: t}
	for seed := uint64(first); seed <= uint64(last); seed++ {
		one, err := t.training(&c, step, seed)
		if err != nil {
			return curve, err
		}
		curve.clients = one.Clients
		r, err := x.Env.TrainOne(x.Ctx, x.Report.ID, one, seed)
		if r != nil {
			curve.results = append(curve.results, r)
		}
		if err != nil {
			return curve, fmt.Errorf("%s, seed %d: %w", one.Name, seed, err)
		}
	}
	return curve, nil
}

// best runs a method with the step size for which the run of the first seed has the lowest final
// value.
func (x *boxRun) best(t *boxTask, c contest.Method) (*boxCurve, error) {
	var best *boxCurve
	if len(c.Steps) == 1 {
		return x.train(t, c, c.Steps[0], 1, t.seeds)
	}
	for _, step := range c.Steps {
		curve, err := x.train(t, c, step, 1, 1)
		if err != nil {
			return curve, err
		}
		if best == nil || !(curve.end() >= best.end()) {
			best = curve
		}
	}
	more, err := x.train(t, c, best.step, 2, t.seeds)
	best.results = append(best.results, more.results...)
	return best, err
}

// compare runs methods on a problem, and reports their curves.
func (x *boxRun) compare(t *boxTask, list []contest.Method) (curves []*boxCurve, err error) {
	for _, c := range list {
		curve, err := x.best(t, c)
		x.add(curve)
		if err != nil {
			return curves, err
		}
		curves = append(curves, curve)
		x.Env.Say("%s: %s: %s after %d rounds, %.0f queries a client and round", t.title, curve.label(),
			lab.SpreadError(curve.results.At(t.metric, t.rounds)), t.rounds, curve.perRound())
	}
	return curves, nil
}

// add reports a curve: rows of all seeds, and the line of their mean in the figures of its
// problem, by rounds and by queries.
func (x *boxRun) add(c *boxCurve) {
	if len(c.results) == 0 {
		return
	}
	lines := len(x.Report.Figure.Lines)
	x.Report.AddCurves(c.task.metric, c.results)
	x.Report.Figure.Lines = x.Report.Figure.Lines[:lines]
	by := chart.Line{Name: c.label()}
	spent := by
	for round := uint64(1); round <= c.task.rounds; round++ {
		y := c.at(round)
		by.Add(float64(round), y)
		spent.Add(c.queries(round), y)
	}
	i := slices.Index(x.shown, c.task.title)
	if i < 0 {
		i, x.shown = len(x.shown), append(x.shown, c.task.title)
	}
	addCurve(x.figure(2*i), c.task, "round", by)
	more := x.figure(2*i + 1)
	addCurve(more, c.task, "queries of all clients", spent)
	more.LogX = true
}

// figure returns the report's figure i.
func (x *boxRun) figure(i int) *chart.Chart {
	if i == 0 {
		return &x.Report.Figure
	}
	for len(x.Report.More) < i {
		x.Report.More = append(x.Report.More, chart.Chart{})
	}
	return &x.Report.More[i-1]
}

// addCurve adds a line to a figure of a problem.
func addCurve(f *chart.Chart, t *boxTask, by string, s chart.Line) {
	f.Title, f.X, f.Y, f.LogY = t.title, by, t.metric, t.metric == lab.AboveMinimum
	f.Lines = append(f.Lines, s)
}
