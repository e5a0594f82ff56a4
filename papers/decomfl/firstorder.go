package decomfl

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/zofl/zofl/coordinator/zofl/data"
	"github.com/zofl/zofl/coordinator/zofl/softmax"
	"github.com/zofl/zofl/internal/chart"
	"github.com/zofl/zofl/papers/firstorder"
	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/models"
	"github.com/zofl/zofl/papers/run"
)

// A gradientArm is a method of package firstorder with which DeComFL's figures compare DeComFL.
type gradientArm struct {
	title  string
	method firstorder.Method
}

// A duel trains DeComFL and methods by gradients on the same shares of one data set; each method
// starts from its own initial parameters. A duel counts traffic in numbers of four bytes, for a
// client that takes part in every round.
type duel struct {
	train, test models.Differentiable
	members     int // clients; 0: as many as the paper has
	rounds      int // of methods by gradients
	every       int // rounds between their measurements
	target      float64
}

func (d *duel) clients() int { return cmp.Or(d.members, clients) }

// shares deals the samples alike to the clients.
func (d *duel) shares(seed uint64) ([][]int, error) {
	return data.IID(d.train.Len(), d.clients(), seed)
}

// A duelPoint is a model after a round, and the cost until then.
type duelPoint struct {
	round, gradients, queries uint64
	numbers                   float64
	accuracy                  float64
}

// A duelCurve is a method's points.
type duelCurve struct {
	title  string
	points []duelPoint
}

func (c *duelCurve) last() duelPoint { return c.points[len(c.points)-1] }

// first returns the first point with at least this accuracy.
func (c *duelCurve) first(accuracy float64) (duelPoint, bool) {
	i := slices.IndexFunc(c.points, func(p duelPoint) bool { return p.accuracy >= accuracy })
	if i < 0 {
		return duelPoint{}, false
	}
	return c.points[i], true
}

// after returns the last point up to a round.
func (c *duelCurve) after(round uint64) duelPoint {
	var at duelPoint
	for _, p := range c.points {
		if p.round <= round {
			at = p
		}
	}
	return at
}

// gradients trains an arm.
func (d *duel) gradients(ctx context.Context, e *lab.Env, a *gradientArm,
	seed uint64) (*duelCurve, error) {
	shares, err := d.shares(seed)
	if err != nil {
		return nil, err
	}
	r := firstorder.New(&firstorder.Problem{Dim: d.train.Dim(), Gradient: d.train.Gradient,
		Shares: shares}, a.method, models.Initial(d.train, seed), seed)
	c := &duelCurve{title: a.title}
	for n := 1; n <= d.rounds; n++ {
		if ctx.Err() != nil {
			return c, context.Cause(ctx)
		}
		loss := r.Round()
		if n%d.every > 0 && n < d.rounds {
			continue
		}
		_, accuracy := softmax.Evaluate(d.test, r.X, 2)
		c.points = append(c.points, duelPoint{round: uint64(n), gradients: uint64(r.Gradients),
			numbers: r.Floats, accuracy: accuracy})
		e.Say("%s seed %d: round %d of %d, train loss %.4f, accuracy %.4f", a.title, seed, n,
			d.rounds, loss, accuracy)
	}
	return c, nil
}

// scalars returns the curve of a training of DeComFL with K local steps: a client that takes
// part in each round sends K P numbers and gets as many. p is P in a round.
func scalars(title string, r *run.Result, k uint32, p func(round uint64) uint32) *duelCurve {
	c := &duelCurve{title: title}
	numbers := 0.0
	for _, point := range r.Curve.Points {
		numbers += 2 * float64(k) * float64(p(point.Round))
		if v := r.Curve.At(run.Accuracy, point.Round); !math.IsNaN(v) {
			c.points = append(c.points, duelPoint{point.Round, point.Gradients,
				point.AsBlackBoxes(), numbers, v})
		}
	}
	return c
}

// draw makes the report's figures, by rounds and by numbers, and its summary.
func (d *duel) draw(r *lab.Report, curves []*duelCurve) {
	numbers := chart.Chart{Title: r.Figure.Title, X: "numbers that a client sends and gets",
		Y: r.Figure.Y, LogX: true}
	r.Summary.Columns = []string{"method", "rounds", "accuracy", "numbers of a client",
		fmt.Sprintf("to %.2f", d.target), "gradients", "queries"}
	for _, c := range curves {
		by, of := chart.Line{Name: c.title}, chart.Line{Name: c.title}
		for _, p := range c.points {
			by.Add(float64(p.round), p.accuracy)
			of.Add(p.numbers, p.accuracy)
		}
		r.Figure.Lines = append(r.Figure.Lines, by)
		numbers.Lines = append(numbers.Lines, of)
		first, end := "never", c.last()
		if p, ok := c.first(d.target); ok {
			first = fmt.Sprintf("%.0f", p.numbers)
		}
		r.Summary.Add(c.title, end.round, fmt.Sprintf("%.4f", end.accuracy),
			fmt.Sprintf("%.0f", end.numbers), first, end.gradients, end.queries)
	}
	r.More = append(r.More, numbers)
}

// fewerNumbers adds the claim that DeComFL reaches the target with fewer numbers than every other
// method.
func (d *duel) fewerNumbers(r *lab.Report, ours *duelCurve, others []*duelCurve) {
	point, holds := ours.first(d.target)
	least := math.Inf(1)
	for _, c := range others {
		if p, ok := c.first(d.target); ok {
			least = min(least, p.numbers)
			holds = holds && point.numbers < p.numbers
		}
	}
	r.Claim(holds, fmt.Sprintf("DeComFL reaches %.2f with fewer numbers than any method by gradients",
		d.target), "%.0f numbers of a client, of the others %.0f at least", point.numbers, least)
}

// slower adds the claim that DeComFL has a lower accuracy than a method with gradients after the
// same number of rounds.
func (d *duel) slower(r *lab.Report, ours, other *duelCurve) {
	round := min(ours.last().round, other.last().round)
	r.Claim(ours.after(round).accuracy < other.after(round).accuracy,
		fmt.Sprintf("%s is behind %s after equal rounds", ours.title, other.title),
		"accuracy %.4f against %.4f after round %d", ours.after(round).accuracy,
		other.after(round).accuracy, round)
}
