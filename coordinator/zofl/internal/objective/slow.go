package objective

import (
	"context"
	"time"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/coordinator/zofl/internal/pause"
)

// Slow returns an objective that waits d before every loss evaluation. The returned objective has
// losses by class if o has them.
func Slow(o objective.Flat, d time.Duration) objective.Flat {
	if d <= 0 {
		return o
	}
	if classed, ok := o.(objective.Classed); ok {
		return &slowClassed{slow{o, d}, classed}
	}
	return &slow{o, d}
}

type slow struct {
	objective.Flat
	delay time.Duration
}

// Loss implements [objective.Flat].
func (s *slow) Loss(ctx context.Context, x []float32, b objective.Batch) (float64, error) {
	if err := pause.For(ctx, s.delay); err != nil {
		return 0, err
	}
	return s.Flat.Loss(ctx, x, b)
}

type slowClassed struct {
	slow
	classed objective.Classed
}

// ClassCounts implements [objective.Classed].
func (s *slowClassed) ClassCounts() []int { return s.classed.ClassCounts() }

// ClassLosses implements [objective.Classed].
func (s *slowClassed) ClassLosses(ctx context.Context, x []float32, b objective.Batch,
	sums []float64, counts []int) error {
	if err := pause.For(ctx, s.delay); err != nil {
		return err
	}
	return s.classed.ClassLosses(ctx, x, b, sums, counts)
}
