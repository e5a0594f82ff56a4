// Package contesttest makes up runs, to test what is claimed of them.
package contesttest

import (
	"github.com/zofl/zofl/testing/paper/contest"
	"github.com/zofl/zofl/testing/paper/run"
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

// Entry returns an entry with such curves.
func Entry(name string, curves ...*run.Curve) *contest.Entry {
	e := &contest.Entry{Method: contest.Method{Name: name, Title: name}, Chosen: 1}
	for _, c := range curves {
		e.Results = append(e.Results, &run.Result{Curve: c})
	}
	return e
}
