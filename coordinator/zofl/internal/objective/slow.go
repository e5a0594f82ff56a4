package objective

import (
	"context"
	"time"

	"github.com/zofl/zofl/client/objective"
)

// Slow returns an objective whose every loss evaluation waits d first.
func Slow(o objective.Flat, d time.Duration) objective.Flat {
	if d <= 0 {
		return o
	}
	return &slow{o, d}
}

type slow struct {
	objective.Flat
	delay time.Duration
}

// Loss implements [objective.Flat].
func (s *slow) Loss(ctx context.Context, x []float32, b objective.Batch) (float64, error) {
	t := time.NewTimer(s.delay)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	case <-t.C:
		return s.Flat.Loss(ctx, x, b)
	}
}
