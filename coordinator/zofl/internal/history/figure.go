package history

import (
	"cmp"
	"math"
)

// A Figure is a number of a point, under the name that it has in files.
type Figure struct {
	Name string
	Of   func(p *Point) float64 // NaN: the point has none
}

// Figures are the numbers of a round, beside those that say which round it was.
var Figures = []Figure{
	{"loss", func(p *Point) float64 { return OrNaN(p.Loss) }},
	{"seconds", func(p *Point) float64 { return p.Seconds }},
	{"attempt", func(p *Point) float64 { return float64(p.Attempt) }},
	{"contributors", func(p *Point) float64 { return float64(p.Contributors) }},
	{"asked", func(p *Point) float64 { return float64(p.Asked) }},
	{"late", func(p *Point) float64 { return float64(p.Late) }},
	{"declines", func(p *Point) float64 { return float64(p.Declines) }},
	{"rejected", func(p *Point) float64 { return float64(p.Dropped()) }},
	{"bytes_up", func(p *Point) float64 { return float64(p.BytesUp) }},
	{"bytes_down", func(p *Point) float64 { return float64(p.BytesDown) }},
	{"queries", func(p *Point) float64 { return float64(p.Queries) }},
	{"step", func(p *Point) float64 { return OrNaN(finite(p.Step)) }},
	{"perturbations", func(p *Point) float64 { return float64(p.Perturbations) }},
	{"epsilon", func(p *Point) float64 {
		return cmp.Or(p.Epsilon, math.NaN())
	}},
}

// Dropped is how many messages the coordinator dropped since the point before.
func (p *Point) Dropped() (sum uint64) {
	for _, n := range p.Rejected {
		sum += n
	}
	return sum
}

// Metric is what devices measured under a name, nil if they measured nothing.
func (p *Point) Metric(name string) *float64 {
	if p.Evaluation == nil {
		return nil
	}
	return p.Evaluation.Metrics[name]
}

// OrNaN returns a number of a point, or a NaN for one that it does not have.
func OrNaN(x *float64) float64 {
	if x == nil {
		return math.NaN()
	}
	return *x
}
