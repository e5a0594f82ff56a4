package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/zofl/zofl/examples/sensor/internal/config"
)

// perSlot is the number of times that a sampler reads the sensor in a slot. A mean has less noise
// than one reading, and a single failed reading, common with cheap sensors, does not matter.
const perSlot = 4

// A sampler is a source that reads whenever it is time to.
type sampler struct {
	every time.Duration
	clock *clock
	now   func() time.Time
	pause func(ctx context.Context, d time.Duration) error
	read  func() reading
}

func newSampler(cfg *config.Config, log *slog.Logger, s *station, read func() reading) *sampler {
	return &sampler{every: cfg.Period / perSlot, clock: &clock{station: s, log: log},
		now: time.Now, pause: sleep, read: read}
}

// run implements source.
func (s *sampler) run(ctx context.Context, out chan<- reading) error {
	for {
		if r := s.read(); s.clock.believe(r.time, false) {
			select {
			case <-ctx.Done():
				return context.Cause(ctx)
			case out <- r:
			}
		}
		now := s.now()
		if err := s.pause(ctx, now.Truncate(s.every).Add(s.every).Sub(now)); err != nil {
			return err
		}
	}
}
