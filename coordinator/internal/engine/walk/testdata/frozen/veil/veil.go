// Package veil is the differential privacy of a plan with dp_by=coordinator: contributions are cut,
// and noise is added once to their sum, before the record is made. What is published is the record.
// So a coordinator that dies before the log has it leaves nothing of it, and its successor draws
// other noise for the only record of that index.
package veil

import (
	"io"

	"github.com/zofl/zofl/coordinator/internal/engine/walk/testdata/frozen/gather"
	"github.com/zofl/zofl/internal/dpnoise"
	"github.com/zofl/zofl/plan"
)

// A Veil cuts the contributions of a round and adds noise to their sum. Weights are 1, and nothing
// else joins the sum.
type Veil struct {
	Adds      bool // false: the plan asks the coordinator for no noise, and Cut does nothing
	mechanism dpnoise.Mechanism
	random    io.Reader
	noise     []float32
}

// Of returns the veil of a plan. random must not fail; it may be nil where no noise is asked for.
func Of(p *plan.Plan, random io.Reader) Veil {
	_, adds := p.Noisy()
	if !adds {
		return Veil{}
	}
	if random == nil {
		panic("coordinator: internal error: noise without Config.Random")
	}
	return Veil{Adds: true, random: random, mechanism: dpnoise.New(p.DPClip, p.DPNoise)}
}

// Cut puts a contribution on the grid, no longer than the plan lets it be.
func (v *Veil) Cut(values []float32) {
	if v.Adds {
		v.mechanism.Clip(values)
	}
}

// Means returns the sum and noise, exactly added, over the number of contributors. The noise must
// come before any rounding: what is rounded by itself may tell about what it was rounded from.
func (v *Veil) Means(sum *gather.Tally) []float32 {
	v.noise = append(v.noise[:0], make([]float32, sum.Len())...)
	v.mechanism.Noise(v.noise, v.random)
	weight, count := sum.Weight, sum.Count
	sum.Add(v.noise, 1)
	sum.Weight, sum.Count = weight, count // the noise is no contributor
	return sum.MeansOver(weight)
}
