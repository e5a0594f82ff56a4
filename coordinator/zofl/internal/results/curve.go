package results

import (
	"math"
	"slices"

	"github.com/zofl/zofl/coordinator/zofl/internal/history"
	"github.com/zofl/zofl/internal/chart"
)

// A Sample is a value, and the cost up to its round for a device that took part in every round.
type Sample struct {
	Round   float64 `json:"round"`
	Queries float64 `json:"queries"` // losses evaluated
	Bytes   float64 `json:"bytes"`   // sent and received, as the plan prices them
	Seconds float64 `json:"seconds"` // since the first point of the run
	Value   float64 `json:"value"`
}

// A Series is a quantity in the course of a run. It does not contain records that a rollback undid.
type Series struct {
	Name string
	At   []Sample
}

// Loss is the mean training loss of each round's contributors.
func (r *Run) Loss() Series {
	return r.series("training loss", func(p *history.Point) *float64 {
		if !p.IsRound() || p.Phase == 1 {
			return nil
		}
		return p.Loss
	})
}

// Metric is the series of a metric that devices measured, named as in the plan.
func (r *Run) Metric(name string) Series {
	return r.series(name, func(p *history.Point) *float64 { return p.Metric(name) })
}

func (r *Run) series(name string, of func(*history.Point) *float64) Series {
	s := Series{Name: name}
	bytes, before := 0.0, uint64(0)
	for i := range r.Points {
		p := &r.Points[i]
		rounds := uint64(1) // the history may have dropped some earlier points
		if p.Round > before {
			rounds = p.Round - before
		}
		bytes += float64(rounds * (p.BytesUp + p.BytesDown))
		before = p.Round
		if v := of(p); v != nil && !r.undone(p.N) {
			s.At = append(s.At, Sample{float64(p.Round), float64(p.Queries), bytes,
				p.Time.Sub(r.Points[0].Time).Seconds(), *v})
		}
	}
	return s
}

// undone says whether a rollback undid a record.
func (r *Run) undone(n uint64) bool {
	return slices.ContainsFunc(r.Marks, func(m history.Mark) bool {
		return m.Kind == history.RolledBack && m.To < n && n <= m.N
	})
}

// Last is the last value of the series, or NaN if the series is empty.
func (s Series) Last() float64 {
	if len(s.At) == 0 {
		return math.NaN()
	}
	return s.At[len(s.At)-1].Value
}

// Smooth returns a series in which each value is the mean of the values up to it: of as many as a
// fortieth of the series, but at least five.
func (s Series) Smooth() Series {
	width := max(5, len(s.At)/40)
	out := Series{Name: s.Name, At: slices.Clone(s.At)}
	sum := 0.0
	for i := range s.At {
		sum += s.At[i].Value
		n := i + 1
		if i >= width {
			sum -= s.At[i-width].Value
			n = width
		}
		out.At[i].Value = sum / float64(n)
	}
	return out
}

// mostPoints bounds the points of a curve in a chart. If a series has more values, points averages
// neighboring values.
const mostPoints = 400

// points returns the points of a curve over the axis x.
func (s Series) points(x func(Sample) float64) (points []chart.Point) {
	width := len(s.At)/mostPoints + 1
	for part := range slices.Chunk(s.At, width) {
		sum := 0.0
		for _, a := range part {
			sum += a.Value / float64(len(part))
		}
		points = append(points, chart.Point{X: x(part[len(part)-1]), Y: sum})
	}
	return points
}

// An axis is a cost, such as rounds or bytes, over which charts draw values and comparisons compare
// them.
type axis struct {
	Name string
	of   func(Sample) float64
}

var axes = []axis{
	{"round", func(a Sample) float64 { return a.Round }},
	{"queries of a device", func(a Sample) float64 { return a.Queries }},
	{"bytes of a device", func(a Sample) float64 { return a.Bytes }},
}
