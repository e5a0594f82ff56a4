package paper

import (
	"context"
	"fmt"

	"github.com/zofl/zofl/testing/paper/run"
)

// A heterogeneityRun is a running experiment.
type heterogeneityRun struct {
	ctx     context.Context
	env     *Env
	size    driftSize
	report  *Report
	entries map[string][]*entry // by split: the methods at the current drift
}

func newHeterogeneityRun(ctx context.Context, e *Env, id string, size driftSize) *heterogeneityRun {
	return &heterogeneityRun{
		ctx: ctx, env: e, size: size,
		report: &Report{ID: id, Figure: Figure{Title: "unlike clients", X: "round", Y: "test accuracy"}},
	}
}

func (x *heterogeneityRun) all() error {
	s, err := x.env.mnist()
	if err != nil {
		return err
	}
	for _, d := range x.size.drifts {
		x.entries = map[string][]*entry{}
		for _, sp := range splits {
			if err := x.train(s, &d, sp); err != nil {
				return err
			}
		}
		x.claims(&d)
	}
	return nil
}

// train trains all methods with a split.
func (x *heterogeneityRun) train(s *set, d *drift, sp split) error {
	t := d.contest(s, sp, &x.size)
	for _, m := range x.size.methods {
		e, err := x.env.tune(x.ctx, x.report.ID, t, m.at(d.steps...), x.size.seeds)
		x.report.addCurves(run.Accuracy, e.results)
		if err != nil {
			return err
		}
		x.entries[sp.name] = append(x.entries[sp.name], e)
	}
	return nil
}

// claims compares unlike clients with like ones, and each method with plain DeComFL, at
// equal queries and at equal bytes.
func (x *heterogeneityRun) claims(d *drift) {
	like := x.entries[splits[0].name][0]
	for _, sp := range splits[1:] {
		plain := x.entries[sp.name][0]
		at := budget(queriesOf, like, plain)
		x.report.claim(plain.accuracy(queriesOf, at) < like.accuracy(queriesOf, at),
			fmt.Sprintf("%v: %s costs DeComFL accuracy", d, sp.title),
			"%s; IID %s; after %d queries", plain.text(queriesOf, at), like.text(queriesOf, at), at)
	}
	for _, sp := range splits {
		for _, m := range x.entries[sp.name][1:] {
			x.report.beats(fmt.Sprintf("%v, %s: %s beats DeComFL alone", d, sp.title, m.title), m,
				x.entries[sp.name][0])
		}
	}
}
