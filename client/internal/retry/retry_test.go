package retry_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client/internal/retry"
	"github.com/zofl/zofl/wire"
)

// An error is final however deep another error wraps it. Any other error may pass.
func TestFinal(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want bool
	}{
		{nil, false},
		{errors.New("no answer"), false},
		{bus.ErrOffline, false},
		{context.DeadlineExceeded, false},
		{bus.ErrClosed, true},
		{bus.ErrPermission, true},
		{wire.ErrUpgrade, false}, // anybody may have sent the frame
		{fmt.Errorf("upload: %w", fmt.Errorf("%w: full", retry.ErrRecorder)), true},
	} {
		if got := retry.Final(tt.err); got != tt.want {
			t.Errorf("Final(%v): got %v, want %v", tt.err, got, tt.want)
		}
	}
}

// Bounds start at a 32nd of the longest pause and double up to the longest pause. A pause is below
// its bound.
func TestPauses(t *testing.T) {
	p := retry.NewPauses("d0", 32*time.Second)
	bound := p.First()
	for _, want := range []time.Duration{1, 2, 4, 8, 16, 32, 32} {
		if bound != want*time.Second {
			t.Fatalf("bound: got %v, want %v s", bound, int64(want))
		}
		for range 100 {
			if d := p.Jitter(bound); d < 0 || d >= bound {
				t.Fatalf("pause: got %v, want it below %v", d, bound)
			}
		}
		bound = p.Next(bound)
	}
}

// Two devices that begin at the same time draw different pauses. One device under the same clock
// draws the same pauses again.
func TestPausesDiffer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b, again := retry.NewPauses("a", time.Hour), retry.NewPauses("b", time.Hour),
			retry.NewPauses("a", time.Hour)
		same := true
		for range 10 {
			x := a.Jitter(time.Hour)
			if x != again.Jitter(time.Hour) {
				t.Fatal("the same device pauses otherwise under the same clock")
			}
			same = same && x == b.Jitter(time.Hour)
		}
		if same {
			t.Error("two devices pause in step")
		}
	})
}

// Sleep ends with its time, or with its context. Then Sleep returns the cause of the context.
func TestSleep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		if err := retry.Sleep(t.Context(), time.Minute); err != nil || time.Since(began) != time.Minute {
			t.Errorf("got %v after %v, want nil after 1m", err, time.Since(began))
		}
		why := errors.New("the app stops")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(why) })
		began = time.Now()
		if err := retry.Sleep(ctx, time.Minute); err != why || time.Since(began) != time.Second {
			t.Errorf("got %v after %v, want %v after 1s", err, time.Since(began), why)
		}
	})
}
