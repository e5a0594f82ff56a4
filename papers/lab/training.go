package lab

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/zofl/zofl/internal/chart"
	"github.com/zofl/zofl/papers/run"
	"github.com/zofl/zofl/plan"
)

// A Training is one curve of an experiment, for every seed.
type Training struct {
	Name    string // name of the curve and its runs: a token of at most 28 characters
	Run     string // name of the runs, which their messages contain; empty: Name
	Preset  string
	Clients int
	Asked   int // clients asked in a round
	Rounds  uint64
	Task    run.Task
	Order   run.Order
	// Differentiates says which clients give gradients instead of losses; nil: none.
	Differentiates func(slot int) bool
	// Shares returns the samples of each client for a seed.
	Shares func(seed uint64) ([][]int, error)
	// Set applies the experiment's settings to the plan.
	Set func(*plan.Plan)
	// Mix, unless nil, changes the contributions of a round, see run.Config.
	Mix func(contributions [][]float32)
	// Every is the number of rounds between measurements of the model. The training always measures
	// after the last round; with 0, only then.
	Every uint64
	// Everything also counts the bytes by which the clients join, see run.Config.
	Everything bool
}

// Results are the results of one training, by seed from 1.
type Results []*run.Result

// Train runs a training for seeds 1 to seeds. After an error it returns the results so far.
func (e *Env) Train(ctx context.Context, id string, t *Training, seeds int) (Results, error) {
	var results Results
	for seed := uint64(1); seed <= uint64(seeds); seed++ {
		r, err := e.TrainOne(ctx, id, t, seed)
		if r != nil {
			results = append(results, r)
		}
		if err != nil {
			return results, fmt.Errorf("%s, seed %d: %w", t.Name, seed, err)
		}
	}
	return results, nil
}

// TrainOne runs a training for one seed. TrainOne saves the run in a directory with the
// experiment's id.
func (e *Env) TrainOne(ctx context.Context, id string, t *Training,
	seed uint64) (*run.Result, error) {
	p, err := run.Plan(t.Preset, cmp.Or(t.Run, t.Name), seed, t.Task.Dim, t.Clients, t.Asked)
	if err != nil {
		return nil, err
	}
	p.Rounds = t.Rounds
	if t.Set != nil {
		t.Set(p)
	}
	shares, err := t.Shares(seed)
	if err != nil {
		return nil, err
	}
	cfg := run.Config{
		Name: t.Name, Seed: seed, Task: t.Task, Plan: p, Shares: shares, Order: t.Order,
		Measure: func(round uint64) bool {
			return round == t.Rounds || t.Every > 0 && round%t.Every == 0
		},
		Progress: e.Progress(t), Differentiates: t.Differentiates, Everything: t.Everything,
		Mix: t.Mix,
	}
	if e.Dir != "" {
		cfg.Dir = filepath.Join(e.Dir, id, fmt.Sprintf("%s-%d-of-%d", t.Name, seed, t.Rounds))
	}
	e.ScreenRun(&cfg)
	r, err := run.Train(ctx, cfg)
	if r != nil && r.Curve.Ended != "" {
		e.Say("%s seed %d: round %d, ended: %s", t.Name, seed, r.Curve.Last(), r.Curve.Ended)
	}
	return r, err
}

// Once trains a fleet with a plan of its own, and measures the model at the end. Once does not
// save the log. cfg may set more fields than name, seed, task, plan and shares.
func (e *Env) Once(ctx context.Context, cfg run.Config) (*run.Result, error) {
	last := cfg.Plan.Rounds
	cfg.Order, cfg.Measure = run.Draws, func(round uint64) bool { return round == last }
	cfg.Progress = e.Progress(&Training{Rounds: last})
	e.ScreenRun(&cfg)
	return run.Train(ctx, cfg)
}

// tellEvery is how often a training reports progress between measurements.
const tellEvery = 10 * time.Second

// Progress returns a function that reports each measurement, and the rounds done between
// measurements.
func (e *Env) Progress(t *Training) func(*run.Curve) {
	told := time.Now()
	return func(c *run.Curve) {
		p := c.Points[len(c.Points)-1]
		if p.Values == nil && time.Since(told) < tellEvery {
			return
		}
		told = time.Now()
		line := fmt.Sprintf("%s seed %d: round %d of %d, train loss %.4f",
			c.Name, c.Seed, p.Round, t.Rounds, p.TrainLoss)
		for i, v := range p.Values {
			line += fmt.Sprintf(", %s %.4f", c.Metrics[i], v)
		}
		e.Say("%s", line)
	}
}

// At returns a metric after a round, for every seed whose run reached that round.
func (r Results) At(metric string, round uint64) []float64 {
	var values []float64
	for _, one := range r {
		if v := one.Curve.At(metric, round); !math.IsNaN(v) {
			values = append(values, v)
		}
	}
	return values
}

// RoundTime returns the median of the seeds' round times.
func (r Results) RoundTime() time.Duration {
	if len(r) == 0 {
		return 0
	}
	times := Each(r, func(one *run.Result) time.Duration { return one.Curve.RoundTime() })
	slices.Sort(times)
	return times[len(times)/2]
}

// AddCurves adds the rows and the lines of curves to a report. A line has a point for each
// measurement.
func (r *Report) AddCurves(metric string, results Results) {
	r.AddRows(results)
	for _, one := range results {
		c := one.Curve
		line := chart.Line{Name: fmt.Sprintf("%s, seed %d", c.Name, c.Seed)}
		for _, p := range c.Measured() {
			line.Add(float64(p.Round), c.At(metric, p.Round))
		}
		r.Figure.Lines = append(r.Figure.Lines, line)
	}
}

// AddRows adds the rows of curves to a report.
func (r *Report) AddRows(results Results) {
	for _, one := range results {
		c := one.Curve
		if r.Table.Columns == nil {
			r.Table.Columns = append([]string{"curve", "seed"}, c.Columns()...)
		}
		for _, p := range c.Points {
			r.Table.Rows = append(r.Table.Rows,
				append([]string{c.Name, fmt.Sprint(c.Seed)}, p.Row(len(c.Metrics))...))
		}
		r.Table.addGradients(c.Points)
	}
}

// Token formats a number as part of a run's name.
func Token(v float32) string {
	return strings.NewReplacer(".", "_", "+", "").Replace(strconv.FormatFloat(float64(v), 'g', 3, 32))
}
