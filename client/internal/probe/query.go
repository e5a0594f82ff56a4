package probe

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"
)

// errGivenUp ends a job that was left behind; nobody is told.
var errGivenUp = errors.New("given up")

// A query is the way from an estimation to the app's code and back. The whole
// estimation is one job of the caller, so that a query costs no change of
// goroutine; Run waits for it, and leaves it behind where the app's code does not
// return.
//
// Invariants:
//  1. The job holds mu while it is not in the app's code, and with it all that it
//     shares with Run: buffers, replica, estimator.
//  2. Once abandoned is set, the job touches nothing of that.
type query struct {
	prober *Prober
	ctx    context.Context // of the round
	work   func() error    // what the job does; made once, as are the next two
	job    func() error
	quit   func() bool
	unit   string // what the queries of a step are numbered as

	mu        sync.Mutex // guards what follows
	inside    bool       // the app's code runs
	abandoned bool
	began     time.Time // of the call, its probe included
	k, p      int       // of the call
	queries   int       // that the call counts as
}

// prepare readies the query for a new estimation.
func (q *query) prepare(p *Prober) {
	if q.job == nil {
		q.prober, q.job, q.quit = p, q.hold, q.abandon
	}
	q.inside, q.abandoned, q.unit = false, false, "perturbation"
}

// run makes the estimation, until ctx ends. The canonical state is not touched.
func (q *query) run(ctx context.Context) error {
	q.ctx = ctx
	err := q.prober.calls.run(ctx, q.job, q.quit)
	q.prober.source.revoke()
	if errors.Is(err, errPanic) || errors.Is(err, errExit) {
		return q.blame(err)
	}
	return err
}

// blame says of which call err is.
func (q *query) blame(err error) error {
	if q.prober.batched != nil {
		return fmt.Errorf("losses at step %d: %w", q.k, err)
	}
	return fmt.Errorf("loss at step %d, %s %d: %w", q.k, q.unit, q.p, err)
}

// finite says whether a loss can be one: replies carry it as a float32.
func (q *query) finite(f float64, k, p int) error {
	if !(math.Abs(f) <= math.MaxFloat32) {
		return fmt.Errorf("%w: %v at step %d, %s %d", errNotFinite, f, k, q.unit, p)
	}
	return nil
}

// hold is the job.
func (q *query) hold() error {
	q.mu.Lock()
	defer func() {
		if !q.inside { // else the app's code panicked, and mu is not this job's
			q.mu.Unlock()
		}
	}()
	return q.work()
}

// abandon leaves the job behind if it is in the app's code.
func (q *query) abandon() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.inside {
		q.abandoned = true
		q.prober.gaveUp(time.Since(q.began), q.queries)
	}
	return q.inside
}

// enter is called before the app's code, unless it returns an error. The call counts
// as so many queries.
func (q *query) enter(k, p, queries int) error {
	if q.ctx.Err() != nil {
		return context.Cause(q.ctx)
	}
	q.k, q.p, q.queries, q.inside = k, p, queries, true
	q.mu.Unlock()
	return nil
}

// leave is called after the app's code, which returned err.
func (q *query) leave(err error) error {
	q.mu.Lock()
	q.inside = false
	if q.abandoned {
		return errGivenUp
	}
	q.prober.source.revoke()
	now := time.Now()
	took := now.Sub(q.began)
	q.began = now
	switch {
	case q.ctx.Err() != nil:
		q.prober.gaveUp(took, q.queries)
		return context.Cause(q.ctx)
	case err != nil:
		return q.blame(err)
	}
	for range q.queries {
		q.prober.took(took / time.Duration(q.queries))
	}
	return nil
}
