package fzoos

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/zofl/zofl/papers/contest"
	"github.com/zofl/zofl/papers/lab"
)

// A boxCurve is a method with a step size on a problem, and its runs by seed.
type boxCurve struct {
	contest.Method
	step    float32
	task    *boxTask
	clients int
	results lab.Results
}

// label returns the name of a curve. If the method had several step sizes to choose from, the
// name contains the chosen step size.
func (c *boxCurve) label() string {
	if len(c.Steps) > 1 {
		return fmt.Sprintf("%s %g", c.Title, c.step)
	}
	return c.Title
}

// at returns the seeds' mean of the metric after a round, or NaN if some run ended before that
// round.
func (c *boxCurve) at(round uint64) float64 {
	values := c.results.At(c.task.metric, round)
	if len(values) < len(c.results) || len(values) == 0 {
		return math.NaN()
	}
	return lab.Mean(values)
}

// end returns the metric after the last round. If some run ended before, end returns infinity.
func (c *boxCurve) end() float64 {
	if v := c.at(c.task.rounds); !math.IsNaN(v) {
		return v
	}
	return math.Inf(1)
}

// first returns the first round after which the metric is at most level, or 0 if there is no such
// round.
func (c *boxCurve) first(level float64) uint64 {
	for round := uint64(1); round <= c.task.rounds; round++ {
		if c.at(round) <= level {
			return round
		}
	}
	return 0
}

// perRound returns the queries of a client in a round.
func (c *boxCurve) perRound() float64 {
	points := c.results[0].Curve.Points
	if len(points) == 0 {
		return math.NaN()
	}
	last := points[len(points)-1]
	return float64(last.Queries) / float64(last.Round) / float64(c.clients)
}

// queries returns the queries of all clients in a number of rounds.
func (c *boxCurve) queries(rounds uint64) float64 {
	return c.perRound() * float64(rounds) * float64(c.clients)
}

// titles lists the titles of curves.
func titles(curves []*boxCurve) string {
	list := lab.Each(curves, func(c *boxCurve) string { return c.Title })
	return strings.Join(slices.Compact(list), ", ")
}
