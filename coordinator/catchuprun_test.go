package coordinator

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zofl/zofl/coordinator/internal/chaintest"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/wire"
)

// A tornLog returns errors for reads while torn is set. While short is set, reads end after record
// 1.
type tornLog struct {
	runlog.Memory
	torn  atomic.Bool
	short atomic.Bool
}

func (l *tornLog) Read(ctx context.Context, from uint64,
	f func(n uint64, record []byte) bool) error {
	if l.torn.Load() {
		return errDisk
	}
	if l.short.Load() && from > 1 {
		return nil
	}
	return l.Memory.Read(ctx, from, f)
}

func TestCatchUpOfALogThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &tornLog{}
		chaintest.Append(t, log, chaintest.LongRecords(t, 900, 200))
		if err := log.AddMembers(t.Context(), ids(2)); err != nil {
			t.Fatal(err)
		}
		r := run(t, Config{Log: log, CatchUpCache: -1})
		synctest.Wait()
		ask := func(from uint64) error {
			request := wire.CatchUpRequest{From: from, MaxBytes: wire.MaxFrame}
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			defer cancel()
			b, err := r.bus.Request(ctx, subjects.CatchUp("r", "x"), request.Append(nil))
			if err == nil {
				_, err = wire.DecodeCatchUpReply(b)
			}
			return err
		}
		log.torn.Store(true)
		if err := ask(1); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("catch-up of a log that cannot be read: %v, want no answer", err)
		}
		s := r.Status()
		if s.Counters.CatchUpErrors != 1 || s.CatchUpError != errDisk.Error() ||
			s.Counters.CatchUps != 0 {
			t.Errorf("status %+v, want the error", s)
		}
		log.torn.Store(false)
		if err := ask(1); err != nil {
			t.Errorf("the next catch-up: %v", err)
		}
		log.short.Store(true)
		if err := ask(899); err == nil {
			t.Error("a log that lacks records was caught up with")
		}
		if s := r.Status(); s.Counters.CatchUpErrors != 2 || s.Counters.CatchUpBytes == 0 {
			t.Errorf("status %+v, want two errors", s)
		}
	})
}

// A silentLog does not answer reads once silent is set.
type silentLog struct {
	runlog.Memory
	silent atomic.Bool
}

func (l *silentLog) Read(ctx context.Context, from uint64,
	f func(n uint64, record []byte) bool) error {
	if l.silent.Load() {
		<-ctx.Done()
		return context.Cause(ctx)
	}
	return l.Memory.Read(ctx, from, f)
}

// Whatever ends Run also ends a catch-up that waits for the log.
func TestStopDuringCatchUp(t *testing.T) {
	ends := map[string]func(r *running, l *silentLog){
		"stopped": func(r *running, _ *silentLog) { r.cancel(errors.New("stop")) },
		"lost": func(_ *running, l *silentLog) {
			if _, err := l.Begin(t.Context()); err != nil {
				t.Error(err)
			}
		},
	}
	for name, end := range ends {
		synctest.Test(t, func(t *testing.T) {
			log := &silentLog{}
			chaintest.Append(t, &log.Memory, chaintest.Records(t, 3))
			if err := log.AddMembers(t.Context(), ids(2)); err != nil {
				t.Fatal(err)
			}
			r := run(t, Config{Log: log})
			synctest.Wait()
			log.silent.Store(true)
			request := wire.CatchUpRequest{From: 1, MaxBytes: 1000}
			go func() {
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				// nobody answers
				_, _ = r.bus.Request(ctx, subjects.CatchUp("r", "d0"), request.Append(nil))
			}()
			synctest.Wait()
			began := time.Now()
			end(r, log)
			<-r.done
			if took := time.Since(began); took > 0 {
				t.Errorf("%s: Run took %v to stop", name, took)
			}
			if got := r.Status(); got.Counters.CatchUpErrors != 0 || got.CatchUpError != "" {
				t.Errorf("%s: %+v, want no failure of a catch-up", name, got)
			}
		})
	}
}
