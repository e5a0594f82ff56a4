package paper

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/zofl/zofl/testing/paper/blackbox"
	"github.com/zofl/zofl/testing/paper/run"
	"github.com/zofl/zofl/wire"
)

// A boxRun is an experiment on black boxes under way.
type boxRun struct {
	ctx    context.Context
	env    *Env
	size   fzoosSize
	report *Report
}

func newBoxRun(ctx context.Context, e *Env, id string, size fzoosSize) *boxRun {
	return &boxRun{ctx: ctx, env: e, size: size, report: &Report{ID: id}}
}

// A boxTask is a problem for each seed, and a metric of it: the less, the better.
type boxTask struct {
	name   string // in names of runs: short
	draws  string // names what is drawn: tasks of one name begin alike
	title  string
	metric string
	rounds uint64
	steps  uint32 // T
	seeds  int
	random bool // x begins anywhere in the box, not at 0
	// at makes the problem of a seed, and what measures x: the metric, and the rest.
	at      func(seed uint64) (blackbox.Problem, func(x []float32) []float64, error)
	metrics []string // of the rest
}

// A boxCurve is a method on a problem, with its step, and its runs by seed.
type boxCurve struct {
	contestant
	step    float32
	task    *boxTask
	clients int
	results Results
}

// train runs a method with one of its steps for seeds first to last. After an error it
// returns what there is.
func (x *boxRun) train(t *boxTask, c contestant, step float32, first, last int) (*boxCurve, error) {
	curve := &boxCurve{contestant: c, step: step, task: t}
	for seed := uint64(first); seed <= uint64(last); seed++ {
		one, err := t.training(&c, step, seed)
		if err != nil {
			return curve, err
		}
		curve.clients = one.Clients
		r, err := x.env.trainOne(x.ctx, x.report.ID, one, seed)
		if r != nil {
			curve.results = append(curve.results, r)
		}
		if err != nil {
			return curve, fmt.Errorf("%s, seed %d: %w", one.Name, seed, err)
		}
	}
	return curve, nil
}

// best runs a method with the step of which the first seed ends lowest.
func (x *boxRun) best(t *boxTask, c contestant) (*boxCurve, error) {
	var best *boxCurve
	if len(c.steps) == 1 {
		return x.train(t, c, c.steps[0], 1, t.seeds)
	}
	for _, step := range c.steps {
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

// compare runs methods at a problem, and reports their curves.
func (x *boxRun) compare(t *boxTask, list []contestant) (curves []*boxCurve, err error) {
	for _, c := range list {
		curve, err := x.best(t, c)
		x.add(curve)
		if err != nil {
			return curves, err
		}
		curves = append(curves, curve)
		x.env.logf("%s: %s: %s after %d rounds, %.0f queries a client and round", t.title, curve.label(),
			spreadError(curve.results.At(t.metric, t.rounds)), t.rounds, curve.perRound())
	}
	return curves, nil
}

// training is a method with a step at a problem, of a seed. Everything that is drawn is
// drawn alike for all methods: where x begins, directions, features.
func (t *boxTask) training(c *contestant, step float32, seed uint64) (*Training, error) {
	p, measure, err := t.at(seed)
	if err != nil {
		return nil, err
	}
	return &Training{
		Name: fzoosKey(t.name, c, step), Preset: c.preset, Clients: p.Clients(), Asked: p.Clients(), Rounds: t.rounds,
		Every: 1, Task: boxed(p, append([]string{t.metric}, t.metrics...), measure),
		Shares: func(uint64) ([][]int, error) { return numbered(p.Clients()), nil },
		Set: func(plan *wire.Plan) {
			key := sha256.Sum256(binary.LittleEndian.AppendUint64([]byte("zofl black box\x00"+t.draws+"\x00"), seed))
			low, high := p.Box()
			plan.RunKey, plan.Boxes = key[:], []wire.Box{{Low: low, High: high}}
			if t.random {
				plan.Segments = []wire.Segment{{Name: "all", Len: plan.Dim, Fill: wire.UniformFill, Scale: high}}
			}
			c.fields(plan, step)
			plan.Steps, plan.Batch, plan.Diverge = t.steps, 0, 0
			plan.DenseKeep = uint32(2*t.rounds) + 2 // who measures may be rounds behind
		},
	}, nil
}

// boxed makes a problem a task, whose sample i is client i.
func boxed(p blackbox.Problem, metrics []string, measure func([]float32) []float64) run.Task {
	var local []func([]float32) float64
	for i := range p.Clients() {
		local = append(local, p.Local(i))
	}
	return run.Task{
		Dim: p.Dim(), Metrics: metrics, Measure: measure,
		Loss: func(x []float32, samples []int) float64 { return local[samples[0]](x) },
	}
}

// numbered gives each client its number.
func numbered(clients int) [][]int {
	shares := make([][]int, clients)
	for i := range shares {
		shares[i] = []int{i}
	}
	return shares
}

// label names a curve, with its step where one was chosen.
func (c *boxCurve) label() string {
	if len(c.steps) > 1 {
		return fmt.Sprintf("%s %g", c.title, c.step)
	}
	return c.title
}

// at is the seeds' mean of the metric after a round, of runs that all got there; NaN
// otherwise.
func (c *boxCurve) at(round uint64) float64 {
	values := c.results.At(c.task.metric, round)
	if len(values) < len(c.results) || len(values) == 0 {
		return math.NaN()
	}
	return mean(values)
}

// end is the metric after the last round, infinite if that was not reached.
func (c *boxCurve) end() float64 {
	if v := c.at(c.task.rounds); !math.IsNaN(v) {
		return v
	}
	return math.Inf(1)
}

// first returns the first round after which the metric is at most level, 0 if none is.
func (c *boxCurve) first(level float64) uint64 {
	for round := uint64(1); round <= c.task.rounds; round++ {
		if c.at(round) <= level {
			return round
		}
	}
	return 0
}

// perRound is the queries of a client in a round.
func (c *boxCurve) perRound() float64 {
	points := c.results[0].Curve.Points
	if len(points) == 0 {
		return math.NaN()
	}
	last := points[len(points)-1]
	return float64(last.Queries) / float64(last.Round) / float64(c.clients)
}

// queries is what all clients asked for in so many rounds.
func (c *boxCurve) queries(rounds uint64) float64 {
	return c.perRound() * float64(rounds) * float64(c.clients)
}

// add reports a curve: the rows of all seeds, and the line of their mean by rounds and
// by queries.
func (x *boxRun) add(c *boxCurve) {
	if len(c.results) == 0 {
		return
	}
	lines := len(x.report.Figure.Series)
	x.report.addCurves(c.task.metric, c.results)
	x.report.Figure.Series = x.report.Figure.Series[:lines]
	by := Series{Name: strings.TrimPrefix(c.task.title+": "+c.label(), ": ")}
	spent := by
	for round := uint64(1); round <= c.task.rounds; round++ {
		y := c.at(round)
		by.X, by.Y = append(by.X, float64(round)), append(by.Y, y)
		spent.X, spent.Y = append(spent.X, c.queries(round)), append(spent.Y, y)
	}
	if x.report.More == nil {
		x.report.More = []Figure{{LogX: true}}
	}
	f, more := &x.report.Figure, &x.report.More[0]
	f.Title, f.X, f.Y, f.LogY, f.Falls = x.report.ID, "round", c.task.metric, c.task.metric == aboveMinimum, true
	more.Title, more.X, more.Y, more.LogY, more.Falls = f.Title, "queries of all clients", f.Y, f.LogY, true
	f.Series, more.Series = append(f.Series, by), append(more.Series, spent)
}

// spreadError writes values as their mean and its standard error.
func spreadError(values []float64) string {
	if len(values) < 2 {
		return spread(values)
	}
	m, squares := mean(values), 0.0
	for _, v := range values {
		squares += (v - m) * (v - m)
	}
	n := float64(len(values))
	return fmt.Sprintf("%.4f+-%.4f", m, math.Sqrt(squares/(n-1)/n))
}

// titles lists what curves are.
func titles(curves []*boxCurve) string {
	var list []string
	for _, c := range curves {
		list = append(list, c.title)
	}
	return strings.Join(slices.Compact(list), ", ")
}
