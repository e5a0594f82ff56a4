package mobile

import (
	"context"
	"time"
)

// maxBudget is the longest time that RunFor accepts.
const maxBudget = 10 * 365 * 24 * time.Hour

// lookEvery is how often budget compares its end with the wall clock, because timers stand still
// while a device sleeps.
const lookEvery = 10 * time.Second

// wall returns the present time of the wall clock, without a monotonic clock reading.
var wall = func() time.Time { return time.Now().Round(0) }

// budget returns a context that ends with errBudget once d has passed, on the monotonic clock or on
// the wall clock.
func (c *Client) budget(d time.Duration) (context.Context, context.CancelCauseFunc) {
	ctx, cancel := context.WithCancelCause(context.Background())
	until := wall().Add(d)
	end := time.AfterFunc(d, func() { cancel(errBudget) })
	look := time.NewTicker(lookEvery)
	go func() {
		defer contain()
		defer look.Stop()
		defer end.Stop()
		for {
			select {
			case <-ctx.Done():
				return
			case <-look.C:
			case <-c.wake:
			}
			if !wall().Before(until) {
				cancel(errBudget)
				return
			}
		}
	}()
	return ctx, cancel
}
