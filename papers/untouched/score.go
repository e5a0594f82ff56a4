package untouched

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/zofl/zofl/papers/contest"
	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/run"
	"github.com/zofl/zofl/plan"
)

// score trains a variant with a seed, or returns the score that an earlier run saved.
func (x *trial) score(b *bench, name string, t *variant,
	seed uint64) (*score, error) {
	p, devices, err := x.plan(b, name, seed)
	if err == nil {
		if p.Rounds += uint64(t.longer * float64(p.Rounds)); t.matrices {
			lowRank(p, b.model)
		}
		err = t.set(p)
	}
	if err != nil {
		return nil, err
	}
	_, step := contest.StepOf(p)
	file, err := x.Env.File(filepath.Join(x.Report.ID+x.Env.Apart(), b.Name),
		fmt.Sprintf("%s-%s-%d", p.Preset, lab.Token(step), seed), p,
		fmt.Sprintf("\n%s\n%v %d", b.Key(), b.drawn, len(b.labels)))
	if err != nil {
		return nil, err
	}
	return lab.Kept(file, func() (*score, error) { return x.train(b, p, devices, seed) })
}

// train trains a plan. train keeps no log, because a run is short: a stopped run starts again.
func (x *trial) train(b *bench, p *plan.Plan, devices int, seed uint64) (*score, error) {
	shares, err := b.deal(devices, seed)
	if err != nil {
		return nil, err
	}
	if x.holdsOut {
		shares, _ = apart(shares)
	}
	r, err := x.Env.Once(x.Ctx, run.Config{Name: p.Preset + ", " + b.Name, Seed: seed, Task: b.task,
		Plan: p, Shares: shares})
	if err != nil {
		return nil, err
	}
	if r.Curve.Ended == "" {
		return nil, context.Cause(x.Ctx)
	}
	return scoreOf(r.Curve)
}
