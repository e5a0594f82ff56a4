// Package contesttest makes invented results of runs, for tests of claims.
package contesttest

import (
	"testing"

	"github.com/zofl/zofl/papers/contest"
	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/run"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/valid"
)

// Spent returns a curve measured after every second round, with 10 queries and 100 bytes a
// round.
func Spent(ended string, accuracies ...float64) *run.Curve {
	c := &run.Curve{Name: "spent", Seed: 1,
		Metrics: []string{run.TestLoss, run.Accuracy}, Ended: ended}
	for i, v := range accuracies {
		n := uint64(2*i + 1)
		c.Points = append(c.Points,
			run.Point{Round: n, Queries: 10 * n, Bytes: 100 * n},
			run.Point{Round: n + 1, Queries: 10 * (n + 1), Bytes: 100 * (n + 1),
				Values: []float64{1 - v, v}})
	}
	return c
}

// Entry returns an entry with the given curves.
func Entry(name string, curves ...*run.Curve) *contest.Entry {
	e := &contest.Entry{Method: contest.Method{Name: name, Title: name}, Chosen: 1}
	for _, c := range curves {
		e.Results = append(e.Results, &run.Result{Curve: c})
	}
	return e
}

// nameLen is the length of the names of an experiment's trainings. All names have the same
// length, because messages contain them.
const nameLen = 24

// Plan returns the plan of a training. Plan checks that the plan is valid, and that the
// training's name is not in names. Then Plan adds the name to names.
func Plan(t testing.TB, one *lab.Training, names map[string]bool) *plan.Plan {
	t.Helper()
	p, err := run.Plan(one.Preset, one.Name, 99, one.Task.Dim, one.Clients, one.Asked)
	if err != nil {
		t.Fatal(err)
	}
	one.Set(p)
	if err := valid.Plan(p); err != nil {
		t.Errorf("%s: %v", one.Name, err)
	}
	if names[one.Name] || len(one.Name) != nameLen {
		t.Errorf("%s is there twice, or not as long as others", one.Name)
	}
	names[one.Name] = true
	return p
}
