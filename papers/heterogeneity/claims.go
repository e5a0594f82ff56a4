package heterogeneity

import (
	"fmt"

	"github.com/zofl/zofl/internal/chart"
	"github.com/zofl/zofl/papers/contest"
	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/run"
)

// A trial is a running experiment.
type trial struct {
	*lab.Trial
	size    size
	entries map[string][]*contest.Entry // by split: the methods at the current drift
}

func newTrial(t *lab.Trial, size size) *trial {
	t.Report.Figure = chart.Chart{Title: "unlike clients", X: "round", Y: "test accuracy"}
	return &trial{Trial: t, size: size}
}

func (x *trial) all() error {
	s, err := x.Env.MNIST()
	if err != nil {
		return err
	}
	for _, d := range x.size.drifts {
		x.entries = map[string][]*contest.Entry{}
		for _, sp := range lab.Splits {
			if err := x.train(s, &d, sp); err != nil {
				return err
			}
		}
		x.claims(&d)
	}
	return nil
}

// train trains all methods with a split.
func (x *trial) train(s *lab.Set, d *drift, sp lab.Split) error {
	t := d.contest(s, sp, &x.size)
	for _, m := range x.size.methods {
		e, err := t.Tune(x.Ctx, x.Env, x.Report.ID, m.At(d.steps...), x.size.seeds)
		x.Report.AddCurves(run.Accuracy, e.Results)
		if err != nil {
			return err
		}
		x.entries[sp.Name] = append(x.entries[sp.Name], e)
	}
	return nil
}

// claims compares unlike clients with like ones, and each method with plain DeComFL, at
// equal queries and at equal bytes.
func (x *trial) claims(d *drift) {
	like := x.entries[lab.Splits[0].Name][0]
	for _, sp := range lab.Splits[1:] {
		plain := x.entries[sp.Name][0]
		at := contest.Budget(contest.QueriesOf, like, plain)
		x.Report.Claim(plain.Accuracy(contest.QueriesOf, at) < like.Accuracy(contest.QueriesOf, at),
			fmt.Sprintf("%v: %s costs DeComFL accuracy", d, sp.Title),
			"%s; IID %s; after %d queries", plain.Text(contest.QueriesOf, at),
			like.Text(contest.QueriesOf, at), at)
	}
	for _, sp := range lab.Splits {
		for _, m := range x.entries[sp.Name][1:] {
			contest.Beats(x.Report, fmt.Sprintf("%v, %s: %s beats DeComFL alone", d, sp.Title, m.Title), m,
				x.entries[sp.Name][0])
		}
	}
}
