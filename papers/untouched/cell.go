package untouched

import (
	"errors"
	"fmt"
	"math"
	"strings"

	"github.com/zofl/zofl/papers/contest"
	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/run"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/plancheck"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/plan/preset"
)

// A cell holds the results of a preset on a task.
type cell struct {
	preset  string
	limit   float64  // points that it may be below the best
	unfit   string   // why the method is not for the task; empty: it is
	refused string   // why its plan cannot run; empty: it can
	own     *variant // untouched
	grid    []*variant
}

// limit returns how many points of accuracy a preset without changes may be below the same preset
// with its best step size.
func limit(name string) float64 {
	if name == "zofl" {
		return 1.5
	}
	return 3
}

// A variant is a preset on a task, without changes, with one step size, or with an arm, and its
// scores over all seeds.
type variant struct {
	untouched bool
	power     int    // of 4
	field     string // of the step; empty: it is the preset's
	step      float32
	with      []string // other fields to set
	matrices  bool     // directions of rank 1
	longer    float64  // part of the rounds that it has more
	scores    []*score
}

// accuracy returns the mean accuracy over the seeds. A run that ended early counts 0.
func (t *variant) accuracy() float64 {
	return lab.Mean(lab.Each(t.scores, func(s *score) float64 {
		if !s.whole() {
			return contest.Worst(run.Accuracy)
		}
		return s.Accuracy
	}))
}

// best returns the variant of the grid with the highest accuracy. Of variants with equal
// accuracy, best returns the first.
func (c *cell) best() *variant {
	best := c.grid[0]
	for _, t := range c.grid[1:] {
		if t.accuracy() > best.accuracy() {
			best = t
		}
	}
	return best
}

// gap returns how many points of accuracy the preset without changes is below the best variant of
// the grid.
func (c *cell) gap() float64 { return 100 * (c.best().accuracy() - c.own.accuracy()) }

func (c *cell) within() bool { return c.refused == "" && c.gap() <= c.limit }

// ran reports whether the cell has runs: whether the preset suits the task, and its plan is
// valid.
func (c *cell) ran() bool { return c.unfit == "" && c.refused == "" }

// text formats the accuracies in points, and says which step size is the best.
func (c *cell) text() string {
	switch {
	case c.unfit != "":
		return "not run: " + c.unfit
	case c.refused != "":
		return "refused: " + c.refused
	}
	own := fmt.Sprintf("%.1f", 100*c.own.accuracy())
	for _, s := range c.own.scores {
		if !s.whole() {
			why, _, _ := strings.Cut(s.Ended, ":")
			own = why
		}
	}
	best := c.best()
	if best.accuracy() <= c.own.accuracy() {
		return own
	}
	return fmt.Sprintf("%s, %.1f at %s", own, 100*best.accuracy(), c.times(best))
}

// times formats the step size of a variant: as a multiple of the preset's step size, or as a
// number if the preset's devices find the step size. A star marks a step size at an end of the
// grid.
func (c *cell) times(t *variant) string {
	text := fmt.Sprint("x", math.Pow(4, float64(t.power)))
	if t.power < 0 {
		text = fmt.Sprint("x1/", math.Pow(4, float64(-t.power)))
	}
	if c.own.field == "" {
		text = fmt.Sprintf("%s %.2g", t.field, t.step)
	}
	if t == c.grid[0] || t == c.grid[len(c.grid)-1] {
		text += "*"
	}
	return text
}

// cell runs a preset on a task: once without changes, and once with every step size of the grid.
func (x *trial) cell(b *bench, name string) (*cell, error) {
	c := &cell{preset: name, limit: limit(name)}
	plan, _, err := x.plan(b, name, 1)
	if err != nil {
		return nil, err
	}
	if c.unfit = tooMuch(plan); c.unfit != "" {
		return c, nil
	}
	if err := plancheck.Validate(plan); err != nil {
		c.refused = err.Error()
		return c, nil
	}
	for _, t := range x.trials(plan) {
		for seed := range uint64(x.size.seeds) {
			s, err := x.score(b, name, t, seed+1)
			if err != nil {
				return nil, err
			}
			t.scores = append(t.scores, s)
			x.tabulate(b, c, t, seed+1, s)
		}
		if t.untouched {
			c.own = t
		}
		if t.field != "" {
			c.grid = append(c.grid, t)
		}
	}
	return c, nil
}

// trials returns the variants with the step sizes to try. For a preset whose devices find the
// step size, these step sizes decay like the step size that the devices find.
func (x *trial) trials(p *plan.Plan) (list []*variant) {
	field, value := contest.StepOf(p)
	finds, with := value == 0, []string(nil)
	if finds {
		list = append(list, &variant{untouched: true})
		value, with = contest.MiddleStep, []string{"step_decay=" + contest.FixedDecay}
	}
	for _, power := range x.size.powers {
		list = append(list, &variant{untouched: power == 0 && !finds, power: power,
			field: field, step: value * float32(math.Pow(4, float64(power))), with: with})
	}
	return list
}

// plan returns a preset's plan for a task, and the number of devices. plan sets only the model,
// the fleet and the rounds, and leaves the other fields of the preset.
func (x *trial) plan(b *bench, name string, seed uint64) (*plan.Plan, int, error) {
	devices := b.Devices
	probe, err := preset.Unbound(name, "probe", uint64(b.task.Dim))
	if err != nil {
		return nil, 0, err
	}
	if probe.Members == 1 { // the method has one device, which then has all rows
		devices = 1
	}
	p, err := run.Plan(name, b.Name, seed, b.task.Dim, devices, min(devices, int(probe.Target)))
	if err != nil {
		return nil, 0, err
	}
	p.Segments = b.segments
	p.Rounds = min(x.size.rounds, contest.Affordable(p, x.size.queries))
	if p.SendsVectors() {
		p.DenseKeep = uint32(2*p.Rounds) + 2 // a measurement may be rounds behind
	}
	return p, devices, nil
}

// tooMuch returns the reason why a method does not suit a model of the plan's size, or "" if the
// method does.
func tooMuch(p *plan.Plan) string {
	const most = 64 << 20
	if p.Estimator != plan.Surrogate {
		return ""
	}
	if need := 4 * uint64(p.Features) * p.Dim; need > most {
		return fmt.Sprintf("surrogates would take %d MB of a device", need>>20)
	}
	return ""
}

// set applies the step size or the arm of a variant to a plan.
func (t *variant) set(p *plan.Plan) error {
	if t.untouched {
		return nil
	}
	settings := t.with
	if t.field != "" {
		settings = append([]string{fmt.Sprintf("%s=%v", t.field, t.step)}, settings...)
	}
	_, err := planfile.SetAll(p, settings)
	return err
}

// A score is the result of a run.
type score struct {
	Rounds   uint64  `json:"rounds"`
	Queries  uint64  `json:"queries"` // of all devices
	Accuracy float64 `json:"accuracy"`
	Loss     float64 `json:"loss"`
	Ended    string  `json:"ended"`
}

// whole reports whether the run reached its last round with a finite model.
func (s *score) whole() bool { return s.Ended == "rounds" }

var errUnmeasured = errors.New("the model was not measured after the last round")

// scoreOf returns the result of a run.
func scoreOf(c *run.Curve) (*score, error) {
	s := &score{Ended: c.Ended, Rounds: c.Last()}
	if len(c.Points) > 0 {
		s.Queries = c.Points[len(c.Points)-1].Queries
	}
	if !s.whole() {
		return s, nil
	}
	s.Accuracy, s.Loss = c.At(run.Accuracy, s.Rounds), c.At(run.TestLoss, s.Rounds)
	if math.IsNaN(s.Accuracy) {
		return nil, errUnmeasured
	}
	if math.IsNaN(s.Loss) || math.IsInf(s.Loss, 0) {
		s.Ended, s.Accuracy, s.Loss = "diverged: the test loss is not finite", 0, 0
	}
	return s, nil
}
