package pause

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// TestFor: For waits for the duration, or returns the cause of the context's end.
func TestFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		if err := For(t.Context(), time.Hour); err != nil || time.Since(began) != time.Hour {
			t.Errorf("waited %v: %v", time.Since(began), err)
		}
		ctx, cancel := context.WithCancelCause(t.Context())
		reason := errors.New("enough")
		time.AfterFunc(time.Minute, func() { cancel(reason) })
		began = time.Now()
		if err := For(ctx, time.Hour); err != reason || time.Since(began) != time.Minute {
			t.Errorf("waited %v: %v", time.Since(began), err)
		}
	})
}
