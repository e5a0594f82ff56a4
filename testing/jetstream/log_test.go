//go:build unix

package jetstream

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/zofl/zofl/coordinator/jetlog"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/coordinator/runlog/logtest"
	"github.com/zofl/zofl/internal/subjects"
)

// scenarios must pass in every place. Each scenario has its own run.
var scenarios = map[string]func(t *testing.T, p place, run string){
	"reopen": reopen, "conflict": conflict, "lostAck": lostAck, "members": members,
	"oldMembers": oldMembers, "deletedStream": deletedStream, "standby": standby, "gone": gone,
	"race":     race,
	"handOver": handOver, "damagedHandover": damagedHandover, "decisions": decisions,
	"renewal": renewal, "owner": owner,
	"full": full, "largest": largest, "hostile": hostile, "settings": settings,
	"copies": copies, "setBack": setBack,
	"hole": hole, "readers": readers, "otherRun": otherRun, "existing": existing,
	"objects": objects, "objectsOfTwo": objectsOfTwo, "objectsDamaged": objectsDamaged,
	"objectSettings": objectSettings,
	"denseTakeover":  denseTakeover,
	"conformance":    conformance,
}

func TestLog(t *testing.T) {
	t.Parallel()
	for name, start := range places {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := start(t)
			for scenario, f := range scenarios {
				t.Run(scenario, func(t *testing.T) {
					t.Parallel()
					f(t, p, "Run_"+scenario)
				})
			}
		})
	}
}

// conformance runs the tests that every log must pass.
func conformance(t *testing.T, p place, _ string) {
	logtest.Run(t, logtest.Config{Parallel: true,
		Place: func(t testing.TB, run string) logtest.Opener {
			return func(ctx context.Context) (runlog.Log, error) {
				log, err := jetlog.Open(ctx, jetlog.Config{
					Conn: p.connect(t), Run: run, Replicas: p.replicas, LeaseTTL: longLease,
					Timeout: longLease,
				})
				if err != nil {
					return nil, err
				}
				return log, nil
			}
		}})
}

// reopen checks that the next process that opens the log finds all appended records, and that
// epochs ascend, with and without appended records.
func reopen(t *testing.T, p place, run string) {
	_, err := p.tryOpen(t, jetlog.Config{Conn: p.connect(t), Run: run, Existing: true})
	if !errors.Is(err, runlog.ErrNoLog) {
		t.Errorf("opened a log that is not there: %v", err)
	}
	c := newChain(t, run)
	epoch := uint64(0)
	for i := range 6 {
		log := p.open(t, run)
		c.check(log)
		for range 3 {
			next := begin(t, log)
			if next <= epoch || next <= c.epoch && i > 0 {
				t.Errorf("epoch %d after %d; the last record is of %d", next, epoch, c.epoch)
			}
			epoch = next
		}
		if i%2 == 0 {
			c.epoch = epoch + 1000*uint64(i) // as in a log copied from another place
			c.appendTo(log, 5)
		}
		c.check(log)
		closeLog(t, log)
	}
	log := p.open(t, run)
	stopped := 0
	if err := log.Read(t.Context(), 3,
		func(n uint64, _ []byte) bool { stopped++; return n < 5 }); err != nil || stopped != 3 {
		t.Errorf("Read(3) until 5 came to %d records: %v", stopped, err)
	}
}

// otherRun checks that a log refuses the first record of another run before it stores the record,
// because nothing could remove the record from the stream again.
func otherRun(t *testing.T, p place, run string) {
	log := p.open(t, run)
	err := log.Append(t.Context(), 1, newChain(t, "kitchen").next(1))
	if !errors.Is(err, runlog.ErrPlan) || !strings.Contains(err.Error(), "kitchen") ||
		!strings.Contains(err.Error(), run) {
		t.Errorf("got %v, want ErrPlan and the names of both runs", err)
	}
	c := newChain(t, run)
	c.appendTo(log, 2)
	c.check(p.open(t, run))
}

// existing checks that opening a log that must exist creates nothing, whatever part of the log is
// missing, and that leading the log creates the missing parts.
func existing(t *testing.T, p place, run string) {
	log := p.open(t, run)
	c := newChain(t, run)
	c.appendTo(log, 3)
	closeLog(t, log)
	js, _ := p.stream(t, "ZO_"+run+"_LOG")
	others := []string{"ZO_" + run + "_MEMBERS", "KV_ZO_" + run + "_LEASE",
		"KV_ZO_" + run + "_EPOCH"}
	for _, name := range others {
		if err := js.DeleteStream(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	log, err := p.tryOpen(t,
		jetlog.Config{Conn: p.connect(t), Run: run, LeaseTTL: longLease, Existing: true})
	if err != nil {
		t.Fatal(err)
	}
	c.check(log)
	if ids, err := log.Members(); err != nil || len(ids) != 0 {
		t.Errorf("members %v, %v; want none", ids, err)
	}
	for _, name := range others {
		if _, err := js.Stream(t.Context(), name); !errors.Is(err, jetstream.ErrStreamNotFound) {
			t.Errorf("stream %s: %v, want that there is none", name, err)
		}
	}
	c.epoch = begin(t, log)
	c.appendTo(log, 1)
	if err := log.AddMembers(t.Context(), []string{"a"}); err != nil {
		t.Error(err)
	}
	closeLog(t, log)
	for _, name := range others {
		if _, err := js.Stream(t.Context(), name); err != nil {
			t.Errorf("stream %s: %v, want it to be made", name, err)
		}
	}
}

// conflict checks that appending the stored bytes again succeeds, and that appending other bytes
// fails and returns the stored bytes.
func conflict(t *testing.T, p place, run string) {
	a, b := p.open(t, run), p.open(t, run)
	c := newChain(t, run)
	c.appendTo(a, 2)
	for n, record := range c.records {
		for _, log := range []runlog.Log{a, b} { // b learns of both records this way
			if err := log.Append(t.Context(), uint64(n)+1, record); err != nil {
				t.Errorf("the same record %d again: %v", n+1, err)
			}
		}
	}
	stored, other := c.next(1), c.next(2)
	if err := a.Append(t.Context(), 3, stored); err != nil {
		t.Fatal(err)
	}
	c.add(stored)
	for range 2 { // in the second loop the record is not the next record
		var got *runlog.ConflictError
		err := b.Append(t.Context(), 3, other)
		if !errors.As(err, &got) || got.N != 3 || !bytes.Equal(got.Record, stored) {
			t.Errorf("another record 3: got %v, want a conflict with what is stored", err)
		}
	}
	c.check(b)
	c.appendTo(b, 1)
	if err := a.Append(t.Context(), 6, other); !errors.Is(err, runlog.ErrOrder) {
		t.Errorf("record 6 after 4: got %v, want ErrOrder", err)
	}
	if err := a.Append(t.Context(), 4, other); !errors.Is(err, runlog.ErrCorrupt) {
		t.Errorf("record 4 that follows no record 3: got %v, want ErrCorrupt", err)
	}
}

// lostAck checks that a lost acknowledgment is neither an error nor a second record.
func lostAck(t *testing.T, p place, run string) {
	const cuts = 2
	for _, before := range []bool{false, true} {
		run := fmt.Sprint(run, "_", before)
		s := &scissors{mark: []byte("PUB " + subjects.Log(run) + " "), before: before}
		log := p.open(t, run, nats.SetCustomDialer(s))
		c := newChain(t, run)
		for range cuts {
			c.appendTo(log, 1)
			s.armed.Store(true)
			c.appendTo(log, 1)
		}
		if got := s.cuts.Load(); got != cuts {
			t.Errorf("cut %d times, want %d", got, cuts)
		}
		c.check(log)
		c.check(p.open(t, run))
	}
}

func members(t *testing.T, p place, run string) {
	a, b := p.open(t, run), p.open(t, run)
	var want []string
	for i := range 5000 {
		want = append(want, fmt.Sprintf("device_%d", i))
	}
	add := func(log runlog.Log, ids []string) error { return log.AddMembers(t.Context(), ids) }
	if err := errors.Join(add(a, want[:1]), add(a, want[1:3]), add(a, want[3:])); err != nil {
		t.Fatal(err)
	}
	if err := add(b, []string{"somebody_else"}); !errors.Is(err, runlog.ErrDeposed) {
		t.Errorf("slot 0 again: got %v, want ErrDeposed", err)
	}
	if err := add(a, []string{"two\nlines"}); err == nil {
		t.Errorf("a name of two lines is a member")
	}
	for _, log := range []runlog.Log{a, b, p.open(t, run)} {
		if log == runlog.Log(b) {
			begin(t, b)
		}
		if got, err := log.Members(); err != nil || !slices.Equal(got, want) {
			t.Errorf("got %d members (%v), want %d", len(got), err, len(want))
		}
	}
	if err := add(b, []string{"last"}); err != nil {
		t.Errorf("the next slot after Begin: %v", err)
	}
}

// race lets two coordinators race for each record. Each coordinator believes that it leads.
func race(t *testing.T, p place, run string) {
	type result struct {
		who int
		err error
	}
	logs := []*jetlog.Log{p.open(t, run), p.open(t, run)}
	c := newChain(t, run)
	won := []int{0, 0}
	for n := uint64(1); n <= uint64(*raceRecords); n++ {
		results := make(chan result, len(logs))
		start := make(chan struct{})
		records := make([][]byte, len(logs))
		for i, log := range logs {
			records[i] = c.next(float32(i + 1))
			go func() {
				<-start
				results <- result{i, log.Append(t.Context(), n, records[i])}
			}()
		}
		close(start)
		var stored []byte
		for range logs {
			r := <-results
			var conflict *runlog.ConflictError
			switch {
			case r.err == nil && stored == nil:
				won[r.who]++
				stored = records[r.who]
			case r.err == nil:
				t.Fatalf("both coordinators won record %d", n)
			case !errors.As(r.err, &conflict):
				t.Fatal(r.err)
			case !bytes.Equal(conflict.Record, records[1-r.who]):
				t.Fatalf("record %d conflicts with %x, which nobody appended", n, conflict.Record)
			}
		}
		if stored == nil {
			t.Fatalf("neither coordinator won record %d", n)
		}
		c.add(stored)
	}
	t.Logf("won %v", won)
	if min(won[0], won[1]) == 0 {
		t.Errorf("one coordinator won all %d records: no race", *raceRecords)
	}
	for _, log := range append(logs, p.open(t, run)) {
		c.check(log)
	}
}

// handOver checks that a coordinator on standby waits while the leader renews the lease, leads when
// the leader gives the lease back, and then sees all records. The lease itself lasts longer than
// the test.
func handOver(t *testing.T, p place, run string) {
	open := func() *jetlog.Log {
		log, err := p.tryOpen(t,
			jetlog.Config{Conn: p.connect(t), Run: run, LeaseTTL: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		return log
	}
	a, b := open(), open()
	first := begin(t, a)
	c := newChain(t, run)
	c.appendTo(a, 3)
	leads := make(chan uint64, 1)
	go func() { leads <- begin(t, b) }()
	c.appendTo(a, 1)
	select {
	case <-a.Lost():
		t.Error("the leading coordinator lost the lease")
	case <-leads:
		t.Error("two coordinators lead")
	default:
	}
	closeLog(t, a)
	if second := <-leads; second <= first {
		t.Errorf("epoch %d after %d", second, first)
	}
	c.check(b)
	c.appendTo(b, 1)
	closeLog(t, b)
}

// renewal checks that the leading coordinator renews the lease. On a machine that stalls a lease
// may expire anyway, but not at every try.
func renewal(t *testing.T, p place, run string) {
	for try := range 8 {
		if err := renews(t, p, fmt.Sprint(run, "_", try)); err == nil {
			return
		} else if try == 7 {
			t.Fatal(err)
		}
	}
}

func renews(t *testing.T, p place, run string) error {
	t.Helper()
	a, b := p.openFor(t, run, leaseTTL), p.openFor(t, run, leaseTTL)
	begin(t, a)
	ctx, cancel := context.WithTimeout(t.Context(), 2*leaseTTL)
	defer cancel()
	if epoch, err := b.Begin(ctx); !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("two lead: epoch %d, %v", epoch, err)
	}
	if err := a.Append(t.Context(), 1, newChain(t, run).next(0.5)); err != nil {
		return err
	}
	closeLog(t, a)
	begin(t, b)
	closeLog(t, b)
	return nil
}

// readers checks that several readers may read while a coordinator appends records, and that each
// reader sees a complete prefix of the log or stops early.
func readers(t *testing.T, p place, run string) {
	log := p.open(t, run)
	c := newChain(t, run)
	c.appendTo(log, 50)
	var reading sync.WaitGroup
	for i := range 4 {
		reading.Go(func() {
			for from := uint64(1); from < 50; from += 7 {
				next, last := from, log.Last()
				stop := last - uint64(i)
				err := log.Read(t.Context(), from, func(n uint64, _ []byte) bool {
					if n != next {
						t.Errorf("reader %d got record %d, want %d", i, n, next)
					}
					next++
					return n < stop
				})
				if err != nil || next <= stop {
					t.Errorf("reader %d ended before record %d, want %d: %v", i, next, stop+1, err)
				}
			}
		})
	}
	c.appendTo(log, 50)
	reading.Wait()
	c.check(log)
}
