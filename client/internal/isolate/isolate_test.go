package isolate

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A Caller returns each callback's result, panic or exit, and then runs the next callback.
func TestResults(t *testing.T) {
	var c Caller
	defer c.End()
	own := errors.New("own")
	for range 2 {
		n, err := Call(t.Context(), &c, func() (int, error) { return 7, nil })
		if n != 7 || err != nil {
			t.Errorf("got %d, %v, want 7", n, err)
		}
		if n, err := Call(t.Context(), &c, func() (int, error) { return 7, own }); n != 0 ||
			err != own {
			t.Errorf("got %d, %v, want 0 and its error", n, err)
		}
		_, err = Call(t.Context(), &c, func() (int, error) { panic("oh") })
		if !errors.Is(err, ErrPanic) || !strings.Contains(err.Error(), "panic: oh") ||
			!strings.Contains(err.Error(), "isolate_test.go") {
			t.Errorf("got %v, want the panic and where it was", err)
		}
		_, err = Call(t.Context(), &c, func() (int, error) { runtime.Goexit(); return 7, nil })
		if err != ErrExit {
			t.Errorf("got %v, want %v", err, ErrExit)
		}
	}
}

// The Caller abandons a callback that hangs when the context ends. No other callback runs until the
// first one returns.
func TestHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c Caller
		over := errors.New("over")
		ctx, cancel := context.WithCancelCause(t.Context())
		time.AfterFunc(time.Second, func() { cancel(over) })
		hang := func() error { time.Sleep(time.Minute); return nil }
		if err := c.Run(ctx, hang, nil); err != over {
			t.Errorf("got %v, want the cause of the context", err)
		}
		if err := c.Run(t.Context(), hang, nil); err != ErrBusy {
			t.Errorf("got %v, want %v", err, ErrBusy)
		}
		began := time.Now()
		if c.Idle(t.Context(), 0) || c.Idle(t.Context(), time.Second) || c.Idle(ctx, time.Hour) {
			t.Error("it is idle, and a callback hangs")
		}
		if d := time.Since(began); d != time.Second {
			t.Errorf("waited %v, want 1s", d)
		}
		if !c.Idle(t.Context(), time.Hour) || !c.Idle(t.Context(), 0) {
			t.Error("it is not idle after the callback returned")
		}
		if err := c.Run(t.Context(), func() error { return nil }, nil); err != nil {
			t.Error(err)
		}
		c.End() // the bubble reports a goroutine that still runs
	})
}

// If a job must not be abandoned, the Caller waits for it, and returns its result.
func TestNotAbandoned(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c Caller
		own := errors.New("own")
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		slow := func() error { time.Sleep(time.Minute); return own }
		if err := c.Run(ctx, slow, func() bool { return false }); err != own {
			t.Errorf("got %v, want its error", err)
		}
		if !c.Idle(t.Context(), 0) {
			t.Error("it is not idle")
		}
		c.End()
	})
}
