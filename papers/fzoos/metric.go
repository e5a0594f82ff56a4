package fzoos

import (
	"fmt"
	"slices"

	"github.com/zofl/zofl/papers/blackbox"
	"github.com/zofl/zofl/papers/contest"
	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/tables"
)

const metricRounds = 50

// metrics makes figures 8 to 12, except the figures that vary T.
func (x *boxRun) metrics() error {
	dir, err := x.Env.Find("tables")
	if err != nil {
		return err
	}
	table, err := tables.Covertype(dir)
	if err != nil {
		return err
	}
	for _, score := range blackbox.Scores[:x.size.scores] {
		for _, portion := range x.size.portions {
			if err := x.improve(table, score, portion); err != nil {
				return err
			}
		}
	}
	return nil
}

// improve raises a score with all methods. FZooS runs three times: with the paper's length scale l
// = 1, with l fitted at each step as in the paper's published code, and with another window. With
// 2,189 parameters, a local step is about half as long as l = 1.
func (x *boxRun) improve(table *tables.Table, score blackbox.Score, portion float64) error {
	t := &boxTask{
		name: fmt.Sprintf("c%d-%s", score, lab.Token(float32(portion))), draws: "metric",
		title:  fmt.Sprintf("%v, P=%g", score, portion),
		metric: fmt.Sprintf("1 - %v", score), rounds: x.size.few(metricRounds),
		steps: steps, seeds: x.size.seeds,
		at: func(seed uint64) (blackbox.Problem, func([]float32) []float64, error) {
			m, err := blackbox.NewMetric(x.Ctx, table, blackbox.MetricConfig{
				Score: score, Portion: portion, Rows: x.size.rows, Seed: seed, Goroutines: 2, Logf: x.Env.Logf,
			})
			if err != nil {
				return nil, nil, err
			}
			f := blackbox.Mean(m)
			return m, func(x []float32) []float64 { return []float64{f(x)} }, nil
		},
	}
	printed := x.size.fzoos()
	fitted := printed.With(printed.Name+"-l", "FZooS, l fitted", "length_fit=on")
	window := printed.With(printed.Name+"-w", "FZooS, another window", "window="+x.size.window)
	ours := []contest.Method{printed, fitted, window}
	arms, err := lab.Pick("arm", append(ours, baselines...),
		func(m contest.Method) string { return m.Name }, x.Env.Arms, nil)
	if err != nil {
		return err
	}
	curves, err := x.compare(t, arms)
	if err != nil {
		return err
	}
	own := slices.IndexFunc(arms, func(m contest.Method) bool { return m.Preset != printed.Preset })
	if own < 0 {
		return nil
	}
	for _, c := range curves[:own] {
		x.sooner(c, curves[own:], "Adam")
	}
	return nil
}
