package mobile

import (
	"context"
	"time"
)

// maxBudget is the most that RunFor counts.
const maxBudget = 10 * 365 * 24 * time.Hour

// lookEvery is how often a budget is compared with the clock on the wall: timers stand
// still while a device sleeps.
const lookEvery = 10 * time.Second

// wall is the time of day, without the monotonic clock's.
var wall = func() time.Time { return time.Now().Round(0) }

// budget returns a context that ends with errBudget after d, by the clock on the
// wall too.
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
