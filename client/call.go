package client

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"
)

var (
	errPanic = errors.New("panic")
	errExit  = errors.New("the callback ended its goroutine")
	errBusy  = errors.New("an earlier callback has not returned")
)

// A caller runs callbacks, one at a time and each on a goroutine of its own, so
// that one that never returns holds up nothing else.
type caller struct {
	pending <-chan struct{} // closed when the last callback has returned
}

type result[T any] struct {
	value T
	err   error
}

// call runs fn and waits for it until ctx ends. Then fn stays pending: what it
// may still use must not be touched before idle says so, and until then any
// other call fails with errBusy.
func call[T any](ctx context.Context, c *caller, fn func() (T, error)) (T, error) {
	var none T
	if !c.idle(ctx, 0) {
		return none, errBusy
	}
	results := make(chan result[T], 1)
	returned := make(chan struct{})
	go func() {
		defer close(returned)
		contain(fn, results)
	}()
	c.pending = returned
	select {
	case r := <-results:
		<-returned
		return r.value, r.err
	case <-ctx.Done():
		return none, context.Cause(ctx)
	}
}

// contain runs fn, makes an error of a panic, and sends what came of it.
func contain[T any](fn func() (T, error), results chan<- result[T]) {
	r := result[T]{err: errExit}
	defer func() {
		if p := recover(); p != nil {
			r.err = fmt.Errorf("%w: %v\n%s", errPanic, p, debug.Stack())
		}
		results <- r
	}()
	r.value, r.err = fn()
}

// idle says whether no callback is pending; it waits for that until ctx ends,
// but no longer than patience.
func (c *caller) idle(ctx context.Context, patience time.Duration) bool {
	if c.pending == nil {
		return true
	}
	select {
	case <-c.pending:
		return true
	default:
	}
	if patience <= 0 {
		return false
	}
	t := time.NewTimer(patience)
	defer t.Stop()
	select {
	case <-c.pending:
		return true
	case <-t.C:
		return false
	case <-ctx.Done():
		return false
	}
}
