package serve

import (
	"context"
	"time"

	"github.com/zofl/zofl/coordinator"
)

// tellWaiting logs what round 1 waits for, whenever that changes. tellWaiting limits the rate, so
// that thousands of devices that join do not make thousands of lines. tellWaiting ends when round 1
// begins or the caller calls stop.
func tellWaiting(ctx context.Context, c *coordinator.Coordinator, out *printer) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		told := ""
		for s := c.Status(); s.Rounds == 0 && s.End == nil; s = c.Status() {
			if s.Waits != "" && s.Waits != told {
				if told = s.Waits; out.waiting(&s) != nil {
					return // the recorder finds the same error
				}
			}
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
		}
	}()
	return func() { cancel(); <-ended }
}
