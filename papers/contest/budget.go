package contest

import (
	"fmt"
	"math"
	"strings"

	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/run"
)

// A Cost returns the cost of a training up to a point.
type Cost func(*run.Point) uint64

// QueriesOf and BytesOf return the queries and the bytes of all clients together.
func QueriesOf(p *run.Point) uint64 { return p.AsBlackBoxes() }
func BytesOf(p *run.Point) uint64   { return p.Bytes }

// Early reports whether a run ended before its last round.
func Early(c *run.Curve) bool { return c.Ended != "rounds" }

// Reached returns a curve's value of a metric within a budget, interpolated linearly
// between measurements. A run that ended before it spent the budget has the worst value:
// accuracy 0, or an infinite loss.
func Reached(c *run.Curve, metric string, of Cost, budget uint64) float64 {
	points := c.Measured()
	if len(points) == 0 || Early(c) && of(&c.Points[len(c.Points)-1]) <= budget {
		return Worst(metric)
	}
	after := 0
	for after < len(points) && of(&points[after]) <= budget {
		after++
	}
	value := func(i int) float64 { return c.At(metric, points[i].Round) }
	switch after {
	case 0:
		return value(0) // even the first measurement exceeds the budget
	case len(points):
		return value(after - 1)
	}
	low, high := of(&points[after-1]), of(&points[after])
	part := float64(budget-low) / float64(high-low)
	return value(after-1) + part*(value(after)-value(after-1))
}

// Worst returns the value of a metric for a run that ended early.
func Worst(metric string) float64 {
	if metric == run.Accuracy {
		return 0
	}
	return math.Inf(1)
}

// Reached returns, for every seed, the value of the function [Reached].
func (e *Entry) Reached(metric string, of Cost, budget uint64) []float64 {
	return lab.Each(e.Results,
		func(r *run.Result) float64 { return Reached(r.Curve, metric, of, budget) })
}

// Accuracy returns the mean accuracy over the seeds, as [Reached] defines it.
func (e *Entry) Accuracy(of Cost, budget uint64) float64 {
	return lab.Mean(e.Reached(run.Accuracy, of, budget))
}

// spent returns the smallest cost of a complete run of the entry. If all runs ended early, spent
// returns the largest uint64.
func (e *Entry) spent(of Cost) uint64 {
	least := uint64(math.MaxUint64)
	for _, r := range e.Results {
		if c := r.Curve; !Early(c) {
			least = min(least, of(&c.Points[len(c.Points)-1]))
		}
	}
	return least
}

// Budget returns the smallest cost of the complete runs of all entries, the budget within which
// to compare the entries.
func Budget(of Cost, entries ...*Entry) uint64 {
	least := uint64(math.MaxUint64)
	for _, e := range entries {
		least = min(least, e.spent(of))
	}
	return least
}

// Named returns the entry's title with the chosen step.
func (e *Entry) Named() string {
	if e.Chosen == 0 {
		return e.Title
	}
	return fmt.Sprintf("%s (%s %g)", e.Title, e.StepName(), e.Chosen)
}

// Text formats accuracy and loss within a budget, the chosen step, and which runs ended
// early.
func (e *Entry) Text(of Cost, budget uint64) string {
	s := fmt.Sprintf("%s: accuracy %s, loss %s", e.Named(),
		lab.Spread(e.Reached(run.Accuracy, of, budget)), lab.Spread(e.Reached(run.TestLoss, of, budget)))
	var ends []string
	for _, r := range e.Results {
		if c := r.Curve; Early(c) {
			why, _, _ := strings.Cut(c.Ended, ":")
			ends = append(ends, fmt.Sprintf("seed %d %s at round %d", c.Seed, why, c.Last()))
		}
	}
	if ends != nil {
		s += " (" + strings.Join(ends, ", ") + ")"
	}
	return s
}

// Costs are the kinds of [Cost] at which methods are compared.
var Costs = []struct {
	Name string
	Of   Cost
}{{"queries", QueriesOf}, {"bytes", BytesOf}}

// Beats adds the claims to a report that one entry reaches more accuracy than another at equal
// costs, one claim for each kind of cost.
func Beats(r *lab.Report, claim string, one, other *Entry) {
	for _, c := range Costs {
		at := Budget(c.Of, one, other)
		r.Claim(one.Accuracy(c.Of, at) > other.Accuracy(c.Of, at), claim+" at equal "+c.Name,
			"%s; %s; after %d %s of all clients, %d seeds",
			one.Text(c.Of, at), other.Text(c.Of, at), at, c.Name, len(one.Results))
	}
}

// BestBy returns the entry with the highest accuracy within a budget. Of entries with equal
// accuracy, BestBy returns the last.
func BestBy(entries []*Entry, of Cost, at uint64) *Entry {
	best := entries[0]
	for _, e := range entries[1:] {
		if e.Accuracy(of, at) >= best.Accuracy(of, at) {
			best = e
		}
	}
	return best
}

// BestOf returns the entry with the highest accuracy within the queries that all entries made.
func BestOf(entries []*Entry) *Entry {
	return BestBy(entries, QueriesOf, Budget(QueriesOf, entries...))
}

// Arrivals returns, for each run that reaches the accuracy, the cost of the run up to its first
// point with that accuracy.
func (e *Entry) Arrivals(accuracy float64, of Cost) (values []float64) {
	for _, r := range e.Results {
		if p := arrival(r.Curve, accuracy); p != nil {
			values = append(values, float64(of(p)))
		}
	}
	return values
}

// arrival returns the first measured point of a curve with at least this accuracy, or nil if
// there is none.
func arrival(c *run.Curve, accuracy float64) *run.Point {
	for _, p := range c.Measured() {
		if c.At(run.Accuracy, p.Round) >= accuracy {
			return &p
		}
	}
	return nil
}
