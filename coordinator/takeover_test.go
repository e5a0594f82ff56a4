package coordinator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/coordinator/internal/chaintest"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/compact"
)

// announcements returns a function that returns all announcements of the run so far.
func announcements(t *testing.T, b *bus.Memory) func() []wire.Announcement {
	t.Helper()
	seen := make(chan wire.Announcement, 10_000)
	_, err := b.Subscribe(subjects.Announce("r", 0), func(m bus.Message) {
		a, err := compact.Decode(m.Data)
		if err != nil {
			t.Errorf("announcement: %v", err)
		}
		seen <- a.Announcement
	})
	if err != nil {
		t.Fatal(err)
	}
	return func() (list []wire.Announcement) {
		synctest.Wait()
		for {
			select {
			case a := <-seen:
				list = append(list, a)
			default:
				return list
			}
		}
	}
}

// TestTakeover has a coordinator begin while another one leads.
func TestTakeover(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, b := &runlog.Memory{}, bus.NewMemory()
		defer b.Close()
		plan := chaintest.Plan(t)
		plan.Rounds = 6
		first := run(t, Config{Plan: plan, Log: log, Bus: b})
		first.bus = b
		synctest.Wait()
		first.join(ids(2), func(d *device, a *wire.Announcement) {
			if a.N < 5 || a.Epoch > 1 {
				contribute(d, a)
			}
		})
		pass(time.Second)
		announced := announcements(t, b)
		second := run(t, Config{Log: log, Bus: b})
		if err := <-first.done; !errors.Is(err, runlog.ErrDeposed) {
			t.Errorf("the first one's Run returned %v, want ErrDeposed", err)
		}
		if s := first.Status(); s.State != report.Deposed {
			t.Errorf("the first one is %v, want deposed", s.State)
		}
		if err := first.Run(t.Context()); !errors.Is(err, runlog.ErrDeposed) {
			t.Errorf("Run after it was deposed: %v, want ErrDeposed", err)
		}
		if err := first.Rollback(1); !errors.Is(err, runlog.ErrDeposed) {
			t.Errorf("Rollback after it was deposed: %v, want ErrDeposed", err)
		}
		if err := <-second.done; err != nil {
			t.Fatal(err)
		}
		for _, a := range announced() {
			if a.Epoch != 2 {
				t.Errorf("the first one announced %v of record %d after it was deposed", a.State,
					a.N)
			}
		}
		if s := second.Status(); s.Rounds != 6 || s.Epoch != 2 || s.Counters.Adopted != 0 {
			t.Errorf("status %+v, want 6 rounds by epoch 2", s)
		}
	})
}

// A sharedLog is a log that coordinators share without a lease: its Lost channel is never closed.
type sharedLog struct{ runlog.Memory }

func (l *sharedLog) Lost() <-chan struct{} { return make(chan struct{}) }

// TestTwoLeaders has two coordinators append to one log.
func TestTwoLeaders(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, b := &sharedLog{}, bus.NewMemory()
		defer b.Close()
		plan := chaintest.Plan(t)
		plan.Rounds = 3
		low := run(t, Config{Plan: plan, Log: log, Bus: b})
		low.bus = b
		synctest.Wait()
		devices := low.join(ids(2), nil)
		high := run(t, Config{Log: log, Bus: b})
		synctest.Wait()
		// Both have the replies. Whoever appends first decides.
		for n := uint64(2); n <= 4; n++ {
			for _, d := range devices {
				a := d.last()
				d.send(contributionTo(&a, float32(n), 1))
				synctest.Wait()
			}
			pass(4 * time.Second)
		}
		errs := []error{<-low.done, <-high.done}
		if log.Last() != 5 {
			t.Fatalf("the log has %d records, want 5; %v", log.Last(), errs)
		}
		if _, err := runlog.Replay(t.Context(), log, 5, func([]byte) {}); err != nil {
			t.Error(err)
		}
		if errs[0] != nil && !errors.Is(errs[0], runlog.ErrDeposed) || errs[1] != nil {
			t.Errorf("Run returned %v, want ErrDeposed or nil, and nil", errs)
		}
	})
}

// While stuck is set, a stuckLog does not answer until its context ends.
type stuckLog struct {
	runlog.Memory
	stuck  atomic.Bool
	stores atomic.Bool // once it answers again, whether it had stored the record
}

func (l *stuckLog) Append(ctx context.Context, n uint64, record []byte) error {
	if !l.stuck.Load() {
		return l.Memory.Append(ctx, n, record)
	}
	if l.stores.Load() {
		if err := l.Memory.Append(ctx, n, record); err != nil {
			return err
		}
	}
	<-ctx.Done()
	return ctx.Err()
}

func TestAppendThatDoesNotAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan := chaintest.Plan(t)
		plan.Rounds = 2
		log := &stuckLog{}
		r := run(t, Config{Plan: plan, Log: log, AppendTimeout: time.Second})
		synctest.Wait()
		log.stuck.Store(true)
		log.stores.Store(true)
		d := r.join(ids(2), contribute)
		pass(1500 * time.Millisecond)
		if s := r.Status(); s.State != report.Paused || s.LogError == "" || s.N != 1 {
			t.Fatalf("status %+v, want a pause for the log's sake", s)
		}
		if a := d[0].last(); a.State != wire.Paused || a.N != 2 {
			t.Errorf("devices saw %v of record %d, want a pause at 2", a.State, a.N)
		}
		log.stuck.Store(false)
		if err := <-r.done; err != nil {
			t.Fatal(err)
		}
		if r.count(report.RunPaused) != 1 || r.count(report.RunResumed) != 1 || log.Last() != 4 {
			t.Errorf("%d records, events %+v", log.Last(), r.events)
		}
	})
}

// TestStopDuringAnAppend stops Run while the log does not answer, and starts it again.
func TestStopDuringAnAppend(t *testing.T) {
	for _, stores := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			plan := chaintest.Plan(t)
			plan.Rounds = 1
			log := &stuckLog{}
			log.stores.Store(stores)
			r := run(t, Config{Plan: plan, Log: log})
			synctest.Wait()
			log.stuck.Store(true)
			r.join(ids(2), contribute)
			announced := announcements(t, r.bus)
			pass(4 * time.Second)
			announced()
			began := time.Now()
			stop := errors.New("stop")
			r.cancel(stop)
			if err := <-r.done; !errors.Is(err, stop) {
				t.Errorf("Run returned %v, want the cause of its context", err)
			}
			if took := time.Since(began); took > stopGrace {
				t.Errorf("Run took %v to stop, want at most %v", took, stopGrace)
			}
			if a := announced(); len(a) != 0 || r.count(report.RunPaused) != 0 {
				t.Errorf("%d announcements and %d pauses on stop, want none", len(a),
					r.count(report.RunPaused))
			}
			log.stuck.Store(false)
			if err := r.Run(t.Context()); err != nil {
				t.Fatal(err)
			}
			if log.Last() != 3 || r.count(report.RoundDone) != 1 || r.count(report.RunEnded) != 1 {
				t.Errorf("%d records, events %+v, want a round and the end", log.Last(), r.events)
			}
		})
	}
}

// A lateLog delays each append. A lateLog with deaf set ignores its context.
type lateLog struct {
	runlog.Memory
	takes time.Duration
	deaf  bool
}

func (l *lateLog) Append(ctx context.Context, n uint64, record []byte) error {
	if l.deaf {
		ctx = context.WithoutCancel(ctx)
	}
	select {
	case <-time.After(l.takes):
		return l.Memory.Append(ctx, n, record)
	case <-ctx.Done():
		return ctx.Err()
	}
}

// TestStopObeysFirst sends commands and stops Run while the log stores a record. Run still stores
// and reports what the commands requested.
func TestStopObeysFirst(t *testing.T) {
	for range 8 { // Run may have been about to obey
		synctest.Test(t, func(t *testing.T) {
			log := &lateLog{takes: 300 * time.Millisecond}
			r := run(t, Config{Plan: chaintest.Plan(t), Log: log})
			pass(100 * time.Millisecond)
			r.End("enough")
			r.cancel(context.Canceled)
			if err := <-r.done; err != nil && !errors.Is(err, context.Canceled) {
				t.Errorf("Run returned %v", err)
			}
			if log.Last() != 2 || r.count(report.RunEnded) != 1 {
				t.Errorf("%d records, events %+v, want the end", log.Last(), r.events)
			}
			if err := r.Rollback(1); !errors.Is(err, ErrEnded) {
				t.Errorf("Rollback of a run that has ended: %v, want ErrEnded", err)
			}
		})
	}
}

// TestLostDuringAnAppend has another coordinator begin while the log stores a record. The log
// stores that record, and the first coordinator does not announce it.
func TestLostDuringAnAppend(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &lateLog{takes: 300 * time.Millisecond, deaf: true}
		r := run(t, Config{Plan: chaintest.Plan(t), Log: log})
		pass(time.Second)
		r.join(ids(2), contribute)
		announced := announcements(t, r.bus)
		announced()
		if log.Last() != 1 {
			t.Fatalf("%d records, want 1 and another one under way", log.Last())
		}
		if _, err := log.Begin(t.Context()); err != nil {
			t.Fatal(err)
		}
		if err := <-r.done; !errors.Is(err, runlog.ErrDeposed) {
			t.Errorf("Run returned %v, want ErrDeposed", err)
		}
		if a := announced(); len(a) != 0 || log.Last() != 2 {
			t.Errorf("%d records, announced %+v, want 2 and nothing", log.Last(), a)
		}
	})
}

// A forkedLog holds another record in place of the next record.
type forkedLog struct {
	runlog.Memory
	n      uint64
	record []byte
}

func (l *forkedLog) Append(ctx context.Context, n uint64, record []byte) error {
	if n == l.n {
		return &runlog.ConflictError{N: n, Record: l.record}
	}
	return l.Memory.Append(ctx, n, record)
}

func TestLogThatForks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &forkedLog{n: 2, record: chaintest.Records(t, 3)[2]}
		r := run(t, Config{Plan: chaintest.Plan(t), Log: log})
		synctest.Wait()
		d := r.join(ids(2), contribute)
		if err := <-r.done; !errors.Is(err, runlog.ErrCorrupt) {
			t.Errorf("Run returned %v, want ErrCorrupt", err)
		}
		synctest.Wait()
		if a := d[0].last(); a.State != wire.Paused || a.Reason == "" {
			t.Errorf("devices saw %v %q, want a pause and why", a.State, a.Reason)
		}
	})
}

// A setBackLog has lost its last record, or holds another run.
type setBackLog struct {
	runlog.Memory
	err error
}

func (l *setBackLog) Append(ctx context.Context, n uint64, record []byte) error {
	if n > 1 {
		return fmt.Errorf("log: append: %w", l.err)
	}
	return l.Memory.Append(ctx, n, record)
}

// After a final error Run does not try again: it tells devices, and ends.
func TestLogThatCannotContinue(t *testing.T) {
	for _, hopeless := range []error{runlog.ErrCorrupt, runlog.ErrPlan} {
		synctest.Test(t, func(t *testing.T) {
			r := run(t, Config{Plan: chaintest.Plan(t), Log: &setBackLog{err: hopeless}})
			synctest.Wait()
			d := r.join(ids(2), contribute)
			select {
			case err := <-r.done:
				if !errors.Is(err, hopeless) {
					t.Errorf("Run returned %v, want %v", err, hopeless)
				}
			case <-time.After(time.Hour):
				t.Fatalf("Run goes on, %+v", r.Status())
			}
			synctest.Wait()
			if a := d[0].last(); a.State != wire.Paused || a.Reason == "" {
				t.Errorf("devices saw %v %q, want a pause and why", a.State, a.Reason)
			}
		})
	}
}

// A rivalLog's roster is filled by another coordinator.
type rivalLog struct{ runlog.Memory }

func (l *rivalLog) AddMembers(context.Context, []string) error { return runlog.ErrDeposed }

func TestMembersOfAnotherCoordinator(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := run(t, Config{Plan: chaintest.Plan(t), Log: &rivalLog{}})
		synctest.Wait()
		announced := announcements(t, r.bus)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := r.bus.Request(ctx, subjects.Join("r", "x"), (&wire.JoinRequest{}).Append(nil))
		if err == nil {
			t.Error("a device was told of a slot")
		}
		if err := <-r.done; !errors.Is(err, runlog.ErrDeposed) {
			t.Errorf("Run returned %v, want ErrDeposed", err)
		}
		if a := announced(); len(a) != 0 {
			t.Errorf("%d announcements after that, want none", len(a))
		}
	})
}

func TestEpochs(t *testing.T) {
	log, b := &runlog.Memory{}, bus.NewMemory()
	defer b.Close()
	chaintest.Append(t, log, chaintest.Records(t, 3))
	if err := log.AddMembers(t.Context(), ids(1)); err != nil {
		t.Fatal(err)
	}
	var epochs []uint64
	for range 3 {
		c, err := New(t.Context(), Config{Log: log, Bus: b})
		if err != nil {
			t.Fatal(err)
		}
		epochs = append(epochs, c.Status().Epoch)
	}
	if !slices.Equal(epochs, []uint64{2, 3, 4}) {
		t.Errorf("three coordinators without a record have epochs %v, want 2 3 4", epochs)
	}
	if _, err := newCore(t.Context(), Config{Log: log}, 1); !errors.Is(err, runlog.ErrCorrupt) {
		t.Errorf("a log that begins an epoch again: %v, want ErrCorrupt", err)
	}
}
