package zofedht

import (
	"fmt"
	"math"
	"slices"

	"github.com/zofl/zofl/internal/chart"
	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/run"
)

// tabulate adds the rows of a run.
func (x *trial) tabulate(s *set, z *setting, c *run.Curve) {
	for _, p := range c.Points {
		row := []string{s.name, z.name, z.directions(), fmt.Sprint(float32(z.eta)),
			fmt.Sprint(z.alpha), fmt.Sprint(c.Seed)}
		x.Report.Table.Rows = append(x.Report.Table.Rows, append(row, p.Row(len(c.Metrics))...))
	}
}

// directions returns the kind of directions that a setting has.
func (z *setting) directions() string {
	if z.shared {
		return "shared"
	}
	return "relayed"
}

// draw adds the line of a tuned setting: the mean loss over its seeds after each measured round.
func (x *trial) draw(s *set, t *tuned) {
	line := chart.Line{
		Name: fmt.Sprintf("%s, %s, %s", s.name, t.setting.String(), t.directions())}
	for _, p := range t.results[0].Curve.Measured() {
		line.Add(float64(p.Queries), t.mean(p.Round))
	}
	x.Report.Figure.Lines = append(x.Report.Figure.Lines, line)
}

// losses returns the loss over all samples after a round for each seed, infinite for a run that
// ended before that round.
func (t *tuned) losses(round uint64) []float64 {
	return lab.Each(t.results, func(r *run.Result) float64 { return finalLoss(r, round) })
}

func (t *tuned) mean(round uint64) float64 { return lab.Mean(t.losses(round)) }

// least returns the lowest loss of all seeds, the value that the paper reports.
func (t *tuned) least(round uint64) float64 { return slices.Min(t.losses(round)) }

func (t *tuned) text(round uint64) string {
	return t.setting.String() + " " + lab.Spread(t.losses(round))
}

// queries returns the queries of all clients after a round.
func (t *tuned) queries(round uint64) uint64 {
	for _, p := range t.results[0].Curve.Points {
		if p.Round == round {
			return p.Queries
		}
	}
	return 0
}

// bytes returns the bytes of a round for all clients together, sent and received. bytes leaves
// out the first round, because the clients join before it. If there is no other round, bytes
// returns NaN.
func (t *tuned) bytes() float64 {
	points := t.results[0].Curve.Points
	if len(points) < 2 {
		return math.NaN()
	}
	first, last := points[0], points[len(points)-1]
	return float64(last.Bytes-first.Bytes) / float64(last.Round-first.Round)
}

// from returns the first measured round that is not before round, or the last.
func (t *tuned) from(round float64) uint64 {
	last := uint64(0)
	for _, p := range t.results[0].Curve.Measured() {
		if last = p.Round; float64(last) >= round {
			break
		}
	}
	return last
}
