package paper

import (
	"fmt"
	"math"
	"slices"

	"github.com/zofl/zofl/testing/paper/lab"
	"github.com/zofl/zofl/testing/paper/run"
)

// tabulate adds the rows of a run.
func (x *zofedhtRun) tabulate(s *zofedhtSet, z *zofedhtSetting, c *run.Curve) {
	for _, p := range c.Points {
		row := []string{s.name, z.name, z.directions(), fmt.Sprint(float32(z.eta)),
			fmt.Sprint(z.alpha), fmt.Sprint(c.Seed)}
		x.report.Table.Rows = append(x.report.Table.Rows, append(row, p.Row(len(c.Metrics))...))
	}
}

// directions returns whose directions a setting has.
func (z *zofedhtSetting) directions() string {
	if z.shared {
		return "shared"
	}
	return "relayed"
}

// draw adds the line of a tuned setting: its seeds' mean where it was measured.
func (x *zofedhtRun) draw(s *zofedhtSet, t *zofedhtTuned) {
	line := lab.Series{
		Name: fmt.Sprintf("%s, %s, %s", s.name, t.zofedhtSetting.String(), t.directions())}
	for _, p := range t.results[0].Curve.Measured() {
		line.X, line.Y = append(line.X, float64(p.Queries)), append(line.Y, t.mean(p.Round))
	}
	x.report.Figure.Series = append(x.report.Figure.Series, line)
}

// losses returns the loss over all samples after a round for each seed, infinite for a run
// that did not get there.
func (t *zofedhtTuned) losses(round uint64) []float64 {
	var list []float64
	for _, r := range t.results {
		list = append(list, finalLoss(r, round))
	}
	return list
}

func (t *zofedhtTuned) mean(round uint64) float64 { return lab.Mean(t.losses(round)) }

// least returns the best seed's loss, which is what the paper reports.
func (t *zofedhtTuned) least(round uint64) float64 { return slices.Min(t.losses(round)) }

func (t *zofedhtTuned) text(round uint64) string {
	return t.zofedhtSetting.String() + " " + lab.Spread(t.losses(round))
}

// queries returns the queries of all clients after a round.
func (t *zofedhtTuned) queries(round uint64) uint64 {
	for _, p := range t.results[0].Curve.Points {
		if p.Round == round {
			return p.Queries
		}
	}
	return 0
}

// bytes returns the bytes of a round for all clients together, both ways. It leaves out the
// first round, before which they assemble; NaN if there is no other.
func (t *zofedhtTuned) bytes() float64 {
	points := t.results[0].Curve.Points
	if len(points) < 2 {
		return math.NaN()
	}
	first, last := points[0], points[len(points)-1]
	return float64(last.Bytes-first.Bytes) / float64(last.Round-first.Round)
}

// from returns the first measured round that is not before round, or the last.
func (t *zofedhtTuned) from(round float64) uint64 {
	last := uint64(0)
	for _, p := range t.results[0].Curve.Measured() {
		if last = p.Round; float64(last) >= round {
			break
		}
	}
	return last
}
