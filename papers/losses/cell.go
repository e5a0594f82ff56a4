package losses

import (
	"context"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strconv"

	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/papers/contest"
	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/run"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/planfile"
)

// A cell holds the results of a preset on a task: without changes, and with fixed step sizes.
type cell struct {
	task   *task
	preset string
	own    *variant
	fixed  []*variant
}

// A variant is a preset on a task with one step size, over all seeds. A step size of 0 means the
// step size that the preset finds.
type variant struct {
	step   float32
	scores []*score
}

// A score is the result of a run.
type score struct {
	Start float64 `json:"start"` // the loss of all samples before round 1
	Loss  float64 `json:"loss"`  // and after the last round
	Ended string  `json:"ended"`
}

// loss returns the mean loss over the seeds; a run that ended early has an infinite loss.
func (a *variant) loss() float64 {
	return lab.Mean(lab.Each(a.scores, func(s *score) float64 {
		if s.Ended != "rounds" || math.IsNaN(s.Loss) {
			return math.Inf(1)
		}
		return s.Loss
	}))
}

func (a *variant) text() string {
	if a.step == 0 {
		return "own"
	}
	return strconv.FormatFloat(float64(a.step), 'g', 2, 32)
}

// all returns the variant of the preset without changes, and then the variants with fixed step
// sizes.
func (c *cell) all() []*variant { return append([]*variant{c.own}, c.fixed...) }

// best returns the variant with the fixed step size that has the least loss.
func (c *cell) best() *variant {
	best := c.fixed[0]
	for _, a := range c.fixed[1:] {
		if a.loss() < best.loss() {
			best = a
		}
	}
	return best
}

// start returns the mean over the seeds of the loss of all samples before round 1.
func (c *cell) start() float64 {
	return lab.Mean(lab.Each(c.own.scores, func(s *score) float64 { return s.Start }))
}

// share returns the decrease of the loss with the preset without changes, divided by the decrease
// with the best fixed step size. If the loss does not fall with the best fixed step size, share
// returns 1 if the preset without changes ends no higher, and 0 otherwise.
func (c *cell) share() float64 {
	own, fall := c.start()-c.own.loss(), c.start()-c.best().loss()
	switch {
	case fall > 0:
		return own / fall
	case own >= fall:
		return 1
	}
	return 0
}

func (c *cell) part() string { return fmt.Sprintf("%.0f %%", 100*c.share()) }

// cell runs a preset on a task without changes, and with fixed step sizes. The fixed step sizes
// decay like the step size that the preset finds.
func (t *trial) cell(task *task, preset string) (*cell, error) {
	c := &cell{task: task, preset: preset, own: &variant{}}
	for _, power := range t.powers {
		c.fixed = append(c.fixed, &variant{
			step: contest.MiddleStep * float32(math.Pow(4, float64(power)))})
	}
	for _, a := range c.all() {
		for seed := range uint64(t.seeds) {
			s, err := t.score(task, preset, a.step, seed+1)
			if err != nil {
				return nil, err
			}
			a.scores = append(a.scores, s)
		}
	}
	return c, nil
}

// plan returns a preset's plan for a task. If step is not 0, the plan has this fixed step size.
func (t *trial) plan(task *task, preset string, step float32, seed uint64) (*plan.Plan, error) {
	p, err := run.Plan(preset, task.name, seed, task.dim, task.devices, task.devices)
	if err != nil {
		return nil, err
	}
	p.Segments, p.Rounds = task.segments, t.rounds
	if step == 0 {
		return p, nil
	}
	field, _ := contest.StepOf(p)
	_, err = planfile.SetAll(p, []string{fmt.Sprint(field, "=", step),
		"step_decay=" + contest.FixedDecay})
	return p, err
}

// score trains a task with a seed, or returns the score that an earlier run saved.
func (t *trial) score(task *task, preset string, step float32, seed uint64) (*score, error) {
	p, err := t.plan(task, preset, step, seed)
	if err != nil {
		return nil, err
	}
	file, err := t.Env.File(filepath.Join(t.Report.ID, task.name),
		fmt.Sprintf("%s-%s-%d", p.Preset, lab.Token(p.StepSize), seed), p, "")
	if err != nil {
		return nil, err
	}
	return lab.Kept(file, func() (*score, error) { return t.train(task, p, seed) })
}

// train trains a task, and measures the loss before and after.
func (t *trial) train(task *task, p *plan.Plan, seed uint64) (*score, error) {
	shares, err := task.deal(seed)
	if err != nil {
		return nil, err
	}
	measured := task.task()
	r, err := t.Env.Once(t.Ctx, run.Config{Name: task.name, Seed: seed, Task: measured, Plan: p,
		Shares: shares})
	if err != nil {
		return nil, err
	}
	begin, err := initial(t.Ctx, r.Log, p)
	if err != nil {
		return nil, err
	}
	return &score{Ended: r.Curve.Ended, Start: measured.Measure(begin)[0],
		Loss: measured.Measure(r.Params)[0]}, nil
}

// initial returns the parameters before round 1. The first record of a log has the plan.
func initial(ctx context.Context, log *runlog.Memory, p *plan.Plan) ([]float32, error) {
	m, failed := replica.New(replica.Config{Run: p.Run}), error(nil)
	err := log.Read(ctx, 1, func(_ uint64, record []byte) bool {
		failed = m.Apply(record)
		return false
	})
	return m.Params(), errors.Join(err, failed)
}

func digits3(v float64) string { return strconv.FormatFloat(v, 'g', 3, 64) }
