package untouched

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"path/filepath"

	"github.com/zofl/zofl/testing/paper/contest"
	"github.com/zofl/zofl/testing/paper/lab"
	"github.com/zofl/zofl/testing/paper/run"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/planfile"
)

// score trains a trial with a seed, or returns what an earlier run saved.
func (x *trial) score(b *bench, name string, t *variant,
	seed uint64) (*score, error) {
	p, devices, err := x.plan(b, name, seed)
	if err == nil {
		err = t.set(p)
	}
	if err != nil {
		return nil, err
	}
	file, err := x.file(b, p, seed)
	if err != nil {
		return nil, err
	}
	if s, err := lab.Saved[score](file); s != nil || err != nil {
		return s, err
	}
	shares, err := b.deal(devices, seed)
	if err != nil {
		return nil, err
	}
	return x.train(b, p, shares, seed, file)
}

// train trains a plan, and saves what it reached. A run is too short to be worth a log: one
// that is stopped begins again.
func (x *trial) train(b *bench, p *wire.Plan, shares [][]int, seed uint64,
	file string) (*score, error) {
	cfg := run.Config{
		Name: p.Preset + ", " + b.Name, Seed: seed, Task: b.task, Plan: p, Shares: shares,
		Order: run.Draws, Measure: func(round uint64) bool { return round == p.Rounds },
		Progress: x.env.Progress(&lab.Training{Rounds: p.Rounds}),
	}
	x.env.ScreenRun(&cfg)
	r, err := run.Train(x.ctx, cfg)
	if err != nil {
		return nil, err
	}
	if r.Curve.Ended == "" {
		return nil, context.Cause(x.ctx)
	}
	s, err := scoreOf(r.Curve)
	if err != nil || file == "" {
		return s, err
	}
	return s, lab.Save(file, s)
}

// file returns where a run's score is kept; empty: nowhere. Its name has a digest of all that
// the score depends on.
func (x *trial) file(b *bench, p *wire.Plan, seed uint64) (string, error) {
	if x.env.Dir == "" {
		return "", nil
	}
	plan, err := json.Marshal((*planfile.Plan)(p))
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\n%s\n%v %d", plan, b.Key(), b.drawn,
		len(b.labels)))
	_, step := contest.StepOf(p)
	return filepath.Join(x.env.Dir, x.report.ID+x.env.Apart(), b.Name,
		fmt.Sprintf("%s-%s-%d-%x.json", p.Preset, lab.Token(step), seed, sum[:6])), nil
}
