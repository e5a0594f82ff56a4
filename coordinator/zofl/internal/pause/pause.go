// Package pause waits before something is tried again.
package pause

import (
	"context"
	"time"
)

// For waits for a duration or until the context is done. If the context is done, it returns the
// cause.
func For(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-t.C:
		return nil
	}
}
