package coordinator

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zofl/zofl/coordinator/internal/chaintest"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/runlog"
)

// While mute is set, a muteLog has another record in place of each, and does not say what was
// stored with it.
type muteLog struct {
	runlog.Memory
	mute atomic.Bool
}

func (l *muteLog) Append(ctx context.Context, n uint64, record []byte) error {
	if l.mute.Load() {
		return &runlog.ConflictError{N: n, Record: record}
	}
	return l.Memory.Append(ctx, n, record)
}

func (l *muteLog) HandedOver(ctx context.Context) ([]byte, error) {
	if !l.mute.Load() {
		return l.Memory.HandedOver(ctx)
	}
	<-ctx.Done()
	return nil, ctx.Err()
}

// A log that does not say what was handed over holds up the coordinator no longer than a log that
// does not append.
func TestHandoverThatDoesNotCome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan := chaintest.Plan(t)
		plan.Rounds = 2
		log := &muteLog{}
		r := run(t, Config{Plan: plan, Log: log, AppendTimeout: time.Second})
		synctest.Wait()
		log.mute.Store(true)
		r.join(ids(2), contribute)
		pass(1500 * time.Millisecond)
		if s := r.Status(); s.State != report.Paused || s.LogError == "" || s.N != 1 {
			t.Fatalf("status %+v, want a pause for the log's sake", s)
		}
		log.mute.Store(false)
		if err := <-r.done; err != nil || log.Last() != 4 {
			t.Errorf("%d records, %v", log.Last(), err)
		}
	})
}

// Run that must stop meanwhile tells nobody of a pause, and makes the record when it runs again.
func TestStopBeforeTheHandoverComes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan := chaintest.Plan(t)
		plan.Rounds = 1
		log := &muteLog{}
		r := run(t, Config{Plan: plan, Log: log})
		synctest.Wait()
		log.mute.Store(true)
		r.join(ids(2), contribute)
		pass(4 * time.Second)
		stop := errors.New("stop")
		r.cancel(stop)
		if err := <-r.done; !errors.Is(err, stop) || r.count(report.RunPaused) != 0 {
			t.Errorf("Run returned %v after %d pauses", err, r.count(report.RunPaused))
		}
		log.mute.Store(false)
		if err := r.Run(t.Context()); err != nil || log.Last() != 3 {
			t.Errorf("%d records, %v", log.Last(), err)
		}
	})
}
