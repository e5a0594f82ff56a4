package run

import (
	"context"

	"github.com/zofl/zofl/client/objective"
)

// ClassCounts implements [objective.Classed].
func (d *device) ClassCounts() []int {
	counts := make([]int, d.task.Classes)
	for _, sample := range d.share {
		counts[d.task.Class(sample)]++
	}
	return counts
}

// ClassLosses implements [objective.Classed].
func (d *device) ClassLosses(_ context.Context, x []float32, b objective.Batch, sums []float64,
	counts []int) error {
	samples := d.batches.pick(b)
	if d.task.Asked != nil {
		d.task.Asked(x, samples, b)
	}
	of := make([][]int, len(counts))
	for _, sample := range samples {
		c := d.task.Class(sample)
		of[c] = append(of[c], sample)
	}
	for c, samples := range of {
		if counts[c] = len(samples); len(samples) > 0 {
			sums[c] = d.task.Loss(x, samples) * float64(len(samples))
		}
	}
	return nil
}
