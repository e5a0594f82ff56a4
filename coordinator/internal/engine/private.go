package engine

import (
	"io"

	"github.com/zofl/zofl/coordinator/internal/gather"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/noise"
)

// A private is the differential privacy of a plan with dp_by=coordinator: contributions are cut,
// and noise is added once to their sum, before the record is made. What is published is the record: a
// coordinator that dies before the log has it leaves nothing of it, and its successor draws other
// noise for the only record of that index. Weights are 1, and nothing else joins the sum.
type private struct {
	adds      bool
	mechanism noise.Mechanism
	random    io.Reader
	noise     []float32
}

func privateOf(p *wire.Plan, random io.Reader) private {
	_, adds := p.Noisy()
	if !adds {
		return private{}
	}
	if random == nil {
		panic("coordinator: internal error: noise without Config.Random")
	}
	return private{adds: true, random: random, mechanism: noise.New(p.DPClip, p.DPNoise)}
}

// cut puts a contribution on the grid, no longer than the plan lets it be.
func (k *private) cut(values []float32) {
	if k.adds {
		k.mechanism.Clip(values)
	}
}

// means returns the sum and noise, exactly added, over the number of contributors. The noise must
// come before any rounding: what is rounded by itself may tell about what it was rounded from.
func (k *private) means(sum *gather.Tally) []float32 {
	k.noise = append(k.noise[:0], make([]float32, sum.Len())...)
	k.mechanism.Noise(k.noise, k.random)
	weight, count := sum.Weight, sum.Count
	sum.Add(k.noise, 1)
	sum.Weight, sum.Count = weight, count // the noise is no contributor
	return sum.MeansOver(weight)
}
