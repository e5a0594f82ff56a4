package client

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
)

// What ended a wait for a callback before it returned.
var (
	errSuperseded = errors.New("client: a later round was announced")
	errPanic      = errors.New("panic")
)

// A call is one callback under way.
type call struct {
	fn   func() (float64, error)
	done chan result // buffered
}

type result struct {
	value float64
	err   error
}

// A caller runs callbacks one at a time on a goroutine of its own, so that one
// that never returns holds up nothing else.
type caller struct {
	queue   chan *call
	pending *call // started and not seen to return
}

func (c *caller) start() {
	queue := make(chan *call)
	c.queue = queue
	go func() {
		for call := range queue {
			v, err := contain(call.fn)
			call.done <- result{v, err}
		}
	}()
}

func (c *caller) stop() { close(c.queue) }

// contain runs fn and makes an error of a panic.
func contain(fn func() (float64, error)) (v float64, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v\n%s", errPanic, p, debug.Stack())
		}
	}()
	return fn()
}

// do runs fn and waits for it until ctx ends. Then the call stays pending: the
// caller must not touch what fn may still use before idle says so.
func (c *caller) do(ctx context.Context, fn func() (float64, error)) (float64, error) {
	call := &call{fn, make(chan result, 1)}
	select {
	case c.queue <- call:
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
	select {
	case r := <-call.done:
		return r.value, r.err
	case <-ctx.Done():
		c.pending = call
		return 0, context.Cause(ctx)
	}
}

// idle waits until no call is pending, or ctx ends; it says whether none is.
func (c *caller) idle(ctx context.Context) bool {
	if c.pending == nil {
		return true
	}
	select {
	case <-c.pending.done:
		c.pending = nil
		return true
	case <-ctx.Done():
		return false
	}
}
