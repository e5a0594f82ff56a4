package objective

import (
	"context"
	"time"

	"github.com/zofl/zofl/client"
)

// Slow returns an objective whose losses take at least d longer.
func Slow(o client.Objective, d time.Duration) client.Objective {
	if d <= 0 {
		return o
	}
	return &slow{o, d}
}

type slow struct {
	client.Objective
	delay time.Duration
}

// Loss implements [client.Objective].
func (s *slow) Loss(ctx context.Context, x []float32, b client.Batch) (float64, error) {
	t := time.NewTimer(s.delay)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	case <-t.C:
		return s.Objective.Loss(ctx, x, b)
	}
}
