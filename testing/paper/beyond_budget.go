package paper

import (
	"fmt"
	"math"
	"strings"

	"github.com/zofl/zofl/testing/paper/lab"
	"github.com/zofl/zofl/testing/paper/run"
)

// A cost returns what a training has spent at a point.
type cost func(*run.Point) uint64

func queriesOf(p *run.Point) uint64 { return p.AsBlackBoxes() }
func bytesOf(p *run.Point) uint64   { return p.Bytes }

// early reports whether a run ended before its last round.
func early(c *run.Curve) bool { return c.Ended != "rounds" }

// reached returns a curve's value of a metric within a budget, interpolated linearly
// between measurements. A run that ended before it spent the budget has the worst value:
// accuracy 0, or an infinite loss.
func reached(c *run.Curve, metric string, of cost, budget uint64) float64 {
	points := c.Measured()
	if len(points) == 0 || early(c) && of(&c.Points[len(c.Points)-1]) <= budget {
		return worst(metric)
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

func worst(metric string) float64 {
	if metric == run.Accuracy {
		return 0
	}
	return math.Inf(1)
}

// reached returns the value for every seed.
func (e *entry) reached(metric string, of cost, budget uint64) []float64 {
	var values []float64
	for _, r := range e.results {
		values = append(values, reached(r.Curve, metric, of, budget))
	}
	return values
}

// accuracy returns the mean over the seeds.
func (e *entry) accuracy(of cost, budget uint64) float64 {
	return lab.Mean(e.reached(run.Accuracy, of, budget))
}

// spent returns the least that any run spent until its last round, without a limit if all
// ended early.
func (e *entry) spent(of cost) uint64 {
	least := uint64(math.MaxUint64)
	for _, r := range e.results {
		if c := r.Curve; !early(c) {
			least = min(least, of(&c.Points[len(c.Points)-1]))
		}
	}
	return least
}

// budget returns the least that any entry spent.
func budget(of cost, entries ...*entry) uint64 {
	least := uint64(math.MaxUint64)
	for _, e := range entries {
		least = min(least, e.spent(of))
	}
	return least
}

// named returns the title with the chosen step.
func (e *entry) named() string {
	if e.chosen == 0 {
		return e.title
	}
	return fmt.Sprintf("%s (%s %g)", e.title, e.stepName(), e.chosen)
}

// text formats accuracy and loss within a budget, the chosen step, and which runs ended
// early.
func (e *entry) text(of cost, budget uint64) string {
	s := fmt.Sprintf("%s: accuracy %s, loss %s", e.named(),
		lab.Spread(e.reached(run.Accuracy, of, budget)), lab.Spread(e.reached(run.TestLoss, of, budget)))
	var ends []string
	for _, r := range e.results {
		if c := r.Curve; early(c) {
			why, _, _ := strings.Cut(c.Ended, ":")
			ends = append(ends, fmt.Sprintf("seed %d %s at round %d", c.Seed, why, c.Last()))
		}
	}
	if ends != nil {
		s += " (" + strings.Join(ends, ", ") + ")"
	}
	return s
}

// costs are the kinds of cost at which contestants are compared.
var costs = []struct {
	name string
	of   cost
}{{"queries", queriesOf}, {"bytes", bytesOf}}

// beats claims in a report that one entry reaches more accuracy than another at equal costs of each
// kind.
func beats(r *lab.Report, claim string, one, other *entry) {
	for _, c := range costs {
		at := budget(c.of, one, other)
		r.Claim(one.accuracy(c.of, at) > other.accuracy(c.of, at), claim+" at equal "+c.name,
			"%s; %s; after %d %s of all clients, %d seeds",
			one.text(c.of, at), other.text(c.of, at), at, c.name, len(one.results))
	}
}
