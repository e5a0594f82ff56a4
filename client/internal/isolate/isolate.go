// Package isolate runs the app's code. If a callback hangs, panics or ends its goroutine, only this
// one call of the app fails.
package isolate

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"
)

// The next three errors say what happened to a callback.
var (
	// ErrBusy says that an earlier callback has not returned.
	ErrBusy = errors.New("an earlier callback has not returned")
	// ErrPanic says that the callback panicked. The error has the value and the stack.
	ErrPanic = errors.New("panic")
	// ErrExit says that the callback ended its goroutine.
	ErrExit = errors.New("the callback ended its goroutine")
)

// A Caller runs jobs that call the app, one at a time, on a goroutine of its own. So a callback
// that never returns blocks nothing else. The goroutine serves until End, or until a callback hangs
// or ends the goroutine; then the Caller starts another goroutine for the next job.
type Caller struct {
	runner  *runner         // nil: there is no goroutine now
	pending <-chan struct{} // closed when the last abandoned job has ended
}

// A runner is a goroutine that runs jobs.
type runner struct {
	jobs  chan func() error // closed: end after the present job
	ended chan error        // the result of a job
	gone  chan struct{}     // closed when the goroutine ends
}

func newRunner() *runner {
	r := &runner{make(chan func() error), make(chan error, 1), make(chan struct{})}
	go r.run()
	return r
}

func (r *runner) run() {
	defer close(r.gone)
	for job := range r.jobs {
		r.isolate(job)
	}
}

// isolate runs a job, turns a panic into an error, and sends the result.
func (r *runner) isolate(job func() error) {
	err := ErrExit
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v\n%s", ErrPanic, p, debug.Stack())
		}
		r.ended <- err
	}()
	err = job()
}

// Run runs a job and waits for the job until ctx ends. Then Run calls abandon (nil means yes),
// which says whether to abandon the job: a job that does not run the app's code ends soon by
// itself. An abandoned job is pending until it ends. Until Idle returns true, Run fails
// with ErrBusy, and other code must not touch what the job may still use.
func (c *Caller) Run(ctx context.Context, job func() error, abandon func() bool) error {
	if !c.Idle(ctx, 0) {
		return ErrBusy
	}
	if c.runner == nil {
		c.runner = newRunner()
	}
	c.runner.jobs <- job
	select {
	case err := <-c.runner.ended:
		return c.settle(err)
	case <-ctx.Done():
	}
	if abandon != nil && !abandon() {
		return c.settle(<-c.runner.ended)
	}
	close(c.runner.jobs)
	c.pending, c.runner = c.runner.gone, nil
	return context.Cause(ctx)
}

// settle returns the result of a job. The job may have ended its goroutine.
func (c *Caller) settle(err error) error {
	if err == ErrExit {
		<-c.runner.gone
		c.runner = nil
	}
	return err
}

// End ends the goroutine. The context of an abandoned job ends with the job.
func (c *Caller) End() {
	if c.runner != nil {
		close(c.runner.jobs)
		<-c.runner.gone
		c.runner = nil
	}
}

// Call runs fn as a job and returns its results.
func Call[T any](ctx context.Context, c *Caller, fn func() (T, error)) (T, error) {
	var none T
	value := new(T) // an abandoned job may still write to value
	err := c.Run(ctx, func() (err error) {
		*value, err = fn()
		return err
	}, nil)
	if err != nil {
		return none, err
	}
	return *value, nil
}

// Idle says whether no job is pending. If a job is pending, Idle waits until the job ends, ctx ends
// or patience is over.
func (c *Caller) Idle(ctx context.Context, patience time.Duration) bool {
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
