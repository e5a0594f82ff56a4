package probe

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/zofl/zofl/client/internal/isolate"
	"github.com/zofl/zofl/client/objective"
)

// errGivenUp ends an abandoned job. Nobody reads this error.
var errGivenUp = errors.New("given up")

// A query calls the app's code for an estimation. The whole estimation is one job on the app's
// goroutine, so a query costs no switch of goroutines. Run waits for the job, and abandons the job
// if the app's code does not return.
//
// Invariants:
//  1. The job holds mu while it is not in the app's code. mu guards all that the job shares with
//     Run: buffers, replica, estimation.
//  2. Once abandoned is set, the job uses none of these.
type query struct {
	prober *Prober
	ctx    context.Context // of the round
	work   func() error    // the work of the job; prepare makes work, job and quit once
	job    func() error
	quit   func() bool
	unit   string // the word for a query in errors: "perturbation" or "query"

	mu        sync.Mutex // guards what follows
	inside    bool       // the app's code runs
	meter     *meter     // of the call's kind: queries or gradients
	abandoned bool
	began     time.Time // of the call, including the time to perturb
	k, p      int       // local step and query of the call
	queries   int       // how many queries the call counts as
}

// prepare readies the query for a new estimation.
func (q *query) prepare(p *Prober) {
	if q.job == nil {
		q.prober, q.job, q.quit = p, q.hold, q.abandon
	}
	q.inside, q.abandoned, q.unit, q.meter = false, false, "perturbation", &p.meter
}

// run runs the estimation until ctx ends.
func (q *query) run(ctx context.Context) error {
	q.ctx = ctx
	err := q.prober.calls.Run(ctx, q.job, q.quit)
	q.revoke()
	if errors.Is(err, isolate.ErrPanic) || errors.Is(err, isolate.ErrExit) {
		return q.blame(err)
	}
	return err
}

// revoke ends the app's access to the parameters: later reads give an error.
func (q *query) revoke() {
	for _, s := range q.prober.sources {
		s.revoke()
	}
}

// A refusal is an error that the app's loss returned.
type refusal struct{ error }

func (r refusal) Unwrap() error { return r.error }

// An owing says that the code behind the app's loss owes an earlier answer.
type owing struct{ error }

func (owing) Is(target error) bool { return target == ErrBusy }

// Failed says whether an error of [Prober.Run] or [Prober.Survey] is that of the app's code: an
// error that the code returned, a panic, or the end of its goroutine. A loss that is not finite is
// none.
func Failed(err error) bool {
	return errors.As(err, new(refusal)) || errors.Is(err, isolate.ErrPanic) ||
		errors.Is(err, isolate.ErrExit)
}

// Answered says whether a call of the app's loss has ever returned without an error. A survey in
// which only the call at the model did does not count.
func (p *Prober) Answered() bool { return p.answered }

// blame adds to err the step and the query of the call that failed.
func (q *query) blame(err error) error {
	switch {
	case q.meter == &q.prober.gradients:
		return q.prober.slopes.blame(q, err)
	case q.prober.batched != nil:
		return fmt.Errorf("losses at step %d: %w", q.k, err)
	}
	return fmt.Errorf("loss at step %d, %s %d: %w", q.k, q.unit, q.p, err)
}

// finite checks that a loss is finite as a float32, because replies hold the loss as a float32.
func (q *query) finite(f float64, k, p int) error {
	switch size := math.Abs(f); {
	case size <= math.MaxFloat32:
		return nil
	case size <= math.MaxFloat64:
		return fmt.Errorf("%w in float32: %v %s; return one below 3.4e+38", errNotFinite, f,
			q.place(k, p))
	default: // NaN too
		return fmt.Errorf("%w: %v %s", errNotFinite, f, q.place(k, p))
	}
}

// place names, for an error, the call that returned a loss: the loss call, or the call of Gradient
// or Slope.
func (q *query) place(k, p int) string {
	switch place := fmt.Sprintf("at step %d, %s %d", k, q.unit, p); {
	case q.meter != &q.prober.gradients:
		return place
	case q.prober.slopes.gradient != nil:
		return fmt.Sprintf("with the gradient at step %d", k)
	default:
		return "with the slope " + place
	}
}

// hold is the job. hold does the work while it holds mu.
func (q *query) hold() error {
	q.mu.Lock()
	defer func() {
		if !q.inside { // else the app's code panicked, and this job does not hold mu
			q.mu.Unlock()
		}
	}()
	return q.work()
}

// abandon abandons the job if it is in the app's code.
func (q *query) abandon() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.inside {
		q.abandoned = true
		q.meter.gaveUp(time.Since(q.began), q.queries)
	}
	return q.inside
}

// enter begins a call of the app's loss: use it before each call. queries is the number of queries
// that the call counts as. After an error of enter, the caller must not call the loss.
func (q *query) enter(k, p, queries int) error {
	return q.enterFor(&q.prober.meter, k, p, queries)
}

// enterFor is like enter, for a call of a meter's kind.
func (q *query) enterFor(m *meter, k, p, queries int) error {
	if q.ctx.Err() != nil {
		return context.Cause(q.ctx)
	}
	q.meter, q.k, q.p, q.queries, q.inside = m, k, p, queries, true
	q.mu.Unlock()
	return nil
}

// leave ends a call of the app's code: use it after each call. err is the error that the app
// returned.
func (q *query) leave(err error) error {
	q.mu.Lock()
	q.inside = false
	if q.abandoned {
		return errGivenUp
	}
	q.revoke()
	now := time.Now()
	took := now.Sub(q.began)
	q.began = now
	switch {
	case q.ctx.Err() != nil:
		q.meter.gaveUp(took, q.queries)
		return context.Cause(q.ctx)
	case err != nil:
		if errors.Is(err, objective.ErrBusy) {
			return owing{err}
		}
		return refusal{q.blame(err)}
	}
	q.prober.answered = true
	for range q.queries {
		q.meter.took(took / time.Duration(q.queries))
	}
	return nil
}
