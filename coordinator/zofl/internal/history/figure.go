package history

import (
	"cmp"
	"math"
)

// A Figure is a quantity of a point, with its name in files.
type Figure struct {
	Name string
	Of   func(p *Point) float64 // NaN: the point has none
}

// Figures are the quantities of a round, without its number, record and time.
var Figures = []Figure{
	{"loss", func(p *Point) float64 { return OrNaN(p.Loss) }},
	{"seconds", func(p *Point) float64 { return p.Seconds }},
	{"attempt", func(p *Point) float64 { return float64(p.Attempt) }},
	{"contributors", func(p *Point) float64 { return float64(p.Contributors) }},
	{"asked", func(p *Point) float64 { return float64(p.Asked) }},
	{"late", func(p *Point) float64 { return float64(p.Late) }},
	{"declines", func(p *Point) float64 { return float64(p.Declines) }},
	{"rejected", func(p *Point) float64 { return float64(p.Dropped()) }},
	{"too_late", func(p *Point) float64 { return float64(p.TooLate()) }},
	{"bytes_up", func(p *Point) float64 { return float64(p.BytesUp) }},
	{"bytes_down", func(p *Point) float64 { return float64(p.BytesDown) }},
	{"queries", func(p *Point) float64 { return float64(p.Queries) }},
	{"step", func(p *Point) float64 { return OrNaN(finite(p.Step)) }},
	{"round_step", func(p *Point) float64 { return OrNaN(finite(p.RoundStep)) }},
	{"perturbations", func(p *Point) float64 { return float64(p.Perturbations) }},
	{"epsilon", func(p *Point) float64 {
		return cmp.Or(p.Epsilon, math.NaN())
	}},
}

// tooLate is the cause of messages whose record was closed when they came; see
// report.Counters.Late.
const tooLate = "late"

// Dropped returns how many messages the coordinator dropped since the point before, without those
// that only came too late.
func (p *Point) Dropped() (sum uint64) {
	for cause, n := range p.Rejected {
		if cause != tooLate {
			sum += n
		}
	}
	return sum
}

// TooLate returns how many messages came since the point before when their record was closed. An
// honest fleet that is slower than the plan's deadline sends many.
func (p *Point) TooLate() uint64 { return p.Rejected[tooLate] }

// Metric returns the value of a metric that devices measured, or nil if they did not measure it.
func (p *Point) Metric(name string) *float64 {
	if p.Evaluation == nil {
		return nil
	}
	return p.Evaluation.Metrics[name]
}

// OrNaN returns the number that x points to, or a NaN if x is nil.
func OrNaN(x *float64) float64 {
	if x == nil {
		return math.NaN()
	}
	return *x
}
