// Package pause waits for a time, for code that tries something again.
package pause

import (
	"context"
	"time"
)

// For waits for a duration or until the context is done. If the context is done, For returns its
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
