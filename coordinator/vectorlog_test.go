package coordinator

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/wire"
)

// An orderedLog notes the calls to it, and fails the call that the test chooses.
type orderedLog struct {
	runlog.Memory
	mu    sync.Mutex // guards what follows
	calls []string
	fail  string // the call that fails
	puts  []runlog.ObjectName
}

func (l *orderedLog) call(name string) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.calls = append(l.calls, name)
	if l.fail == name {
		return errDisk
	}
	if l.fail == name+", damaged" {
		return fmt.Errorf("read back: %w", runlog.ErrCorrupt)
	}
	return nil
}

func (l *orderedLog) set(fail string) (before []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before, l.calls, l.fail = l.calls, nil, fail
	return before
}

// tried returns the vectors that were put since the last call.
func (l *orderedLog) tried() (names []runlog.ObjectName) {
	l.mu.Lock()
	defer l.mu.Unlock()
	names, l.puts = l.puts, nil
	return names
}

func (l *orderedLog) Append(ctx context.Context, n uint64, record []byte) error {
	if err := l.call("append"); err != nil {
		return err
	}
	return l.Memory.Append(ctx, n, record)
}

func (l *orderedLog) PutObject(ctx context.Context, name runlog.ObjectName, data []byte) error {
	l.mu.Lock()
	l.puts = append(l.puts, name)
	l.mu.Unlock()
	if err := l.call("put"); err != nil {
		return err
	}
	return l.Memory.PutObject(ctx, name, data)
}

func (l *orderedLog) Object(ctx context.Context, name runlog.ObjectName) ([]byte, error) {
	if err := l.call("read"); err != nil {
		return nil, err
	}
	return l.Memory.Object(ctx, name)
}

func (l *orderedLog) KeepObjects(ctx context.Context, n uint64, names []runlog.ObjectName) error {
	if err := l.call("keep"); err != nil {
		return err
	}
	return l.Memory.KeepObjects(ctx, n, names)
}

// The log stores a vector before its record. Whichever of the two writes fails, the run pauses and
// then continues by itself with the same bytes.
func TestVectorIsStoredBeforeItsRecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan := densePlan(t, 2)
		log := &orderedLog{}
		r := run(t, Config{Plan: plan, Log: log, Linger: -1})
		synctest.Wait()
		r.join(ids(2), uploadsOf(9))
		for r.Status().Rounds < 3 {
			pass(time.Second)
		}
		r.Pause("to look")
		synctest.Wait()
		calls := log.set("")
		// the first is the plan's
		put, appended := slices.Index(calls, "put"), 1+slices.Index(calls[1:], "append")
		if put < 0 || appended < put || calls[appended+1] != "keep" {
			t.Errorf("calls %v, want put, append, keep", calls)
		}
		for _, failing := range []string{"put", "put, damaged", "append"} {
			rounds := r.Status().Rounds
			log.set(failing)
			log.tried()
			r.Resume()
			pass(20 * time.Second)
			s := r.Status()
			if s.State != report.Paused || s.LogError == "" || s.Rounds != rounds {
				t.Fatalf("%s fails: status %+v, want a pause", failing, s)
			}
			if calls := log.set(""); failing != "append" && slices.Contains(calls, "append") {
				t.Errorf("a record was appended whose vector is not stored: %v", calls)
			}
			tried := log.tried()
			for _, name := range tried {
				if name != tried[0] {
					t.Errorf("%s fails: another vector was tried, %v after %v", failing, name,
						tried[0])
				}
			}
			pass(10 * time.Second)
			if s := r.Status(); s.Rounds == rounds {
				t.Fatalf("%s failed before: status %+v, want another round", failing, s)
			}
			r.Pause("to look")
			synctest.Wait()
			record := records(t, log)[tried[0].N-1]
			if got := [wire.ObjectLen]byte(record.Round.Object); len(tried) < 3 ||
				got != tried[0].Digest || record.Epoch != tried[0].Epoch {
				t.Errorf("%s failed %d times: record %d names another vector", failing, len(tried),
					record.N)
			}
		}
		// Failing to delete old vectors stops nothing.
		log.set("keep")
		rounds := r.Status().Rounds
		r.Resume()
		for r.Status().Rounds < rounds+5 {
			pass(time.Second)
		}
	})
}

// A coordinator that dies between the vector and its record leaves a vector that no record names.
// The next coordinator deletes it once it has written that record.
func TestVectorWithoutARecord(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan := densePlan(t, 2)
		log := &orderedLog{}
		b := bus.NewMemory()
		defer b.Close()
		first := run(t, Config{Plan: plan, Log: log, Bus: b})
		first.bus = b
		synctest.Wait()
		log.set("append")
		first.join(ids(2), uploadsOf(9))
		pass(time.Minute)
		if len(log.ObjectNames()) != 1 || log.Last() != 1 {
			t.Fatalf("%d vectors and %d records, want a vector without a record",
				len(log.ObjectNames()), log.Last())
		}
		left := log.tried()[0]
		first.cancel(errors.New("power cut"))
		<-first.done
		log.set("")
		second := run(t, Config{Log: log, Bus: b})
		for second.Status().Rounds < 1 {
			pass(time.Second)
		}
		second.Pause("to look")
		synctest.Wait()
		if slices.Contains(log.ObjectNames(), left) {
			t.Error("the vector that nobody names is still there")
		}
		all := records(t, log)
		for _, record := range all[max(1, len(all)-4):] {
			name := runlog.ObjectName{N: record.N, Epoch: record.Epoch,
				Digest: [wire.ObjectLen]byte(record.Round.Object)}
			if got, err := fetch(t, b, record.Round.Object, 1000); err != nil || len(got) != 16 ||
				!slices.Contains(log.ObjectNames(), name) {
				t.Errorf("vector of record %d: %d bytes, %v", record.N, len(got), err)
			}
		}
		if first := all[1]; [wire.ObjectLen]byte(first.Round.Object) != left.Digest ||
			first.Epoch == left.Epoch {
			t.Error("the same contributions made another vector")
		}
	})
}

// The coordinator tells devices that a lost or damaged vector is gone, and counts that. If the log
// cannot read a vector now, the coordinator does not answer the request.
func TestVectorThatTheLogLost(t *testing.T) {
	for _, fault := range []error{runlog.ErrNoObject, runlog.ErrCorrupt, context.DeadlineExceeded} {
		synctest.Test(t, func(t *testing.T) {
			log := &unreadableLog{Memory: denseLog(t, densePlan(t, 1), 3), fault: fault}
			r := run(t, Config{Log: log})
			synctest.Wait()
			got, err := fetch(t, r.bus, records(t, log)[3].Round.Object, 100)
			if passes := fault == context.DeadlineExceeded; len(got) > 0 || passes != (err != nil) {
				t.Errorf("%v: got %d bytes, %v", fault, len(got), err)
			}
			if s := r.Status(); s.Counters.ObjectErrors != 1 || s.ObjectError != fault.Error() {
				t.Errorf("status %+v, want %v", s, fault)
			}
		})
	}
}

// An unreadableLog returns no vectors.
type unreadableLog struct {
	*runlog.Memory
	fault error
}

func (l *unreadableLog) Object(context.Context, runlog.ObjectName) ([]byte, error) {
	return nil, l.fault
}
