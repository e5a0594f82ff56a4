package run

import (
	"cmp"
	"math"
	"slices"
	"time"
)

// A Curve holds the measurements of a training, one point for each round.
type Curve struct {
	Name    string
	Seed    uint64
	Metrics []string // names of the values of a point
	Points  []Point  // one per round, ascending
	Ended   string   // why it ended; empty if it was stopped
}

// A Point is the state of a training after a round. In a continued run, TrainLoss and Seconds are
// NaN for rounds whose values an earlier process did not save before it stopped.
type Point struct {
	Round     uint64
	Queries   uint64    // loss evaluations of all clients so far
	Gradients uint64    // gradients of all clients so far, see [Config].Differentiates
	Spared    uint64    // queries that black boxes would have made for these gradients
	Bytes     uint64    // sent and received by all clients so far, see [traffic.Meter]
	TrainLoss float64   // mean over the round's contributors, before its step
	Seconds   float64   // of the round
	Values    []float64 // by Curve.Metrics, after the round; nil: not measured
}

// AsBlackBoxes returns the number of queries that the clients would have made so far if no client
// had used gradients.
func (p *Point) AsBlackBoxes() uint64 { return p.Queries + p.Spared }

// Last returns the last round, 0 before the first.
func (c *Curve) Last() uint64 {
	if len(c.Points) == 0 {
		return 0
	}
	return c.Points[len(c.Points)-1].Round
}

// At returns a metric after a round, or NaN if the training did not measure the metric after that
// round.
func (c *Curve) At(metric string, round uint64) float64 {
	m := slices.Index(c.Metrics, metric)
	i, found := c.find(round)
	if !found || m < 0 || c.Points[i].Values == nil {
		return math.NaN()
	}
	return c.Points[i].Values[m]
}

func (c *Curve) find(round uint64) (int, bool) {
	return slices.BinarySearchFunc(c.Points, round, func(p Point, round uint64) int {
		return cmp.Compare(p.Round, round)
	})
}

// Measured returns the points that have values.
func (c *Curve) Measured() []Point {
	return slices.DeleteFunc(slices.Clone(c.Points), func(p Point) bool { return p.Values == nil })
}

// RoundTime returns the median duration of the rounds, without the first few rounds, in which the
// clients join. RoundTime returns 0 if there are no other rounds.
func (c *Curve) RoundTime() time.Duration {
	const warmUp = 5
	var seconds []float64
	for _, p := range c.Points {
		if p.Round > warmUp && !math.IsNaN(p.Seconds) {
			seconds = append(seconds, p.Seconds)
		}
	}
	if len(seconds) == 0 {
		return 0
	}
	slices.Sort(seconds)
	return time.Duration(seconds[len(seconds)/2] * float64(time.Second))
}
