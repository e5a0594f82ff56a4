package probe

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/plan"
)

// An abandoned job in the app's code changes nothing that Run may use by then: neither the pace nor
// the data that another call reads.
func TestAbandonedJobTouchesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		hangs := objective.Func(3, func(context.Context, []float32, objective.Batch) (float64,
			error) {
			<-release
			return 0, nil
		})
		s := newStepper(t, hangs, 1, func(*plan.Plan) {})
		late := errors.New("late")
		ctx, cancel := context.WithCancelCause(s.ctx)
		time.AfterFunc(time.Second, func() { cancel(late) })
		if _, err := s.run(ctx); err != late {
			t.Fatalf("got %v, want %v", err, late)
		}
		if err := s.c.calls.Run(s.ctx, func() error { return nil }, nil); err != ErrBusy {
			t.Errorf("another job: got %v, want %v", err, ErrBusy)
		}
		pace := s.c.pace
		s.c.source.call = 42 // of another call
		<-time.After(time.Minute)
		close(release)
		if !s.c.calls.Idle(s.ctx, time.Second) {
			t.Fatal("the job goes on")
		}
		if s.c.pace != pace || s.c.queries != 0 || s.c.source.call != 42 {
			t.Errorf("pace %v, %d queries, call %d, want %v, 0, 42",
				s.c.pace, s.c.queries, s.c.source.call, pace)
		}
	})
}

// Once a round's context has ended, the device does not call the app for that round.
func TestContextEndsBetweenQueries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		calls, over := 0, errors.New("over")
		ctx, cancel := context.WithCancelCause(context.Background())
		s := newStepper(t, objective.Func(3,
			func(context.Context, []float32, objective.Batch) (float64, error) {
				if calls++; calls == 2 {
					cancel(over)
				}
				return 0, nil
			}), 1, func(*plan.Plan) {})
		if _, err := s.run(ctx); err != over || calls > 2 {
			t.Errorf("got %v after %d calls, want %v after 2", err, calls, over)
		}
		synctest.Wait() // the job may be abandoned in the call that ended it
		if _, err := s.run(ctx); err != over || calls > 2 {
			t.Errorf("with a context that ended before: got %v after %d calls", err, calls)
		}
		synctest.Wait()
		s.step(t)
		if calls != 2+20 {
			t.Errorf("%d calls, want 22: the step after is whole", calls)
		}
	})
}

// A slow is a batched loss that returns after some time, or when its context ends.
type slow struct {
	objective.Objective
	takes time.Duration
	calls int
}

func (o *slow) LossesAt(
	ctx context.Context, _ *objective.Points, _ objective.Batch, losses []float64,
) error {
	o.calls++
	clear(losses)
	select {
	case <-time.After(o.takes):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// A call for all points of a step counts as a query for each point. If a call did not finish in
// time, the device's estimate is longer than that time.
func TestPaceOfBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := &slow{Objective: newNull(3, 1, 1), takes: 20 * time.Second}
		s := newStepper(t, o, 1, func(*plan.Plan) {})
		est := s.c
		s.step(t)
		if est.pace != time.Second || est.queries != 20 {
			t.Errorf("pace %v after %d queries, want 1s after 20", est.pace, est.queries)
		}
		o.takes = time.Hour
		over := errors.New("over")
		ctx, cancel := context.WithCancelCause(s.ctx)
		time.AfterFunc(time.Minute, func() { cancel(over) })
		if _, err := s.run(ctx); err != over {
			t.Errorf("got %v, want %v", err, over)
		}
		synctest.Wait() // the job may be abandoned in the call
		if need := est.duration(20); need <= time.Minute || need > 2*time.Minute ||
			est.queries != 20 {
			t.Errorf("20 queries take %v, %d were made: want one to two minutes, 20",
				need, est.queries)
		}
		calls := o.calls
		if _, err := s.run(ctx); err != over || o.calls != calls {
			t.Errorf("with a context that ended before: got %v after %d calls", err, o.calls-calls)
		}
		synctest.Wait()
	})
}
