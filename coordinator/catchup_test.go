package coordinator

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/wire"
)

// longChain returns n records of a log, rounds of about size bytes.
func longChain(t testing.TB, n, size int) [][]byte {
	t.Helper()
	var l link
	scalars := wire.AppendScalars(nil, make([]float32, size/4)...)
	records := make([][]byte, n)
	for i := range records {
		r := wire.Record{N: uint64(i) + 1, Prev: l.hash, Epoch: 1, Kind: wire.KindPlan, Plan: testPlan(t)}
		if i == 0 {
			r.Prev = wire.Genesis("r")
		} else {
			r.Kind, r.Plan = wire.KindRound, nil
			r.Round = &wire.Round{Round: uint64(i), Step: 1, Perturbations: 2, Contributors: 1,
				Terms: []wire.Term{{Scalars: scalars}}}
		}
		records[i] = r.Append(nil)
		if _, err := l.follow(records[i]); err != nil {
			t.Fatal(err)
		}
	}
	return records
}

// newTestCatchUps returns a service for a log.
func newTestCatchUps(t testing.TB, log Log, b bus.Bus, cache int) *catchUps {
	t.Helper()
	cfg, err := Config{Log: log, Bus: b, CatchUpCache: cache}.withDefaults()
	if err != nil {
		t.Fatal(err)
	}
	var s segments
	err = log.Read(t.Context(), 1, func(_ uint64, record []byte) bool { s.add(len(record)); return true })
	if err != nil {
		t.Fatal(err)
	}
	return newCatchUps(&cfg, func(n uint64) (span, uint64) {
		if n > s.last {
			return span{}, s.last
		}
		return s.find(n), s.last
	})
}

func TestSegmentBordersNeverMove(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	var s segments
	var lengths []int
	borders := map[uint64]uint64{} // first: last
	for n := uint64(1); n <= 3000; n++ {
		length := 1 + rng.IntN(100)
		if rng.IntN(40) == 0 {
			length = 1 + rng.IntN(wire.MaxRecord)
		}
		lengths = append(lengths, length)
		s.add(length)
		for first, last := range borders {
			if at := s.find(first); at.first != first || at.last != last {
				t.Fatalf("after record %d, segment %d to %d has become %+v", n, first, last, at)
			}
		}
		if at := s.find(n); at.last != n {
			t.Fatalf("record %d is in %+v", n, at)
		} else if at.first == n && n > 1 {
			before := s.find(n - 1)
			borders[before.first] = before.last
		}
	}
	for n := uint64(1); n <= s.last; {
		at, size := s.find(n), 0
		for i := at.first; i <= at.last; i++ {
			if got := s.find(i); got != at {
				t.Fatalf("record %d is in %+v, want %+v", i, got, at)
			}
			size += lengths[i-1] + binHead
		}
		if at.first != n || size > segmentRoom && at.last > at.first || at.last < s.last && size+lengths[at.last]+binHead <= segmentRoom {
			t.Fatalf("segment %+v has %d bytes, the next record %d", at, size, lengths[at.last])
		}
		n = at.last + 1
	}
}

func TestCatchUpsMeetInSegments(t *testing.T) {
	log := &countedLog{}
	records := longChain(t, 3000, 200)
	appendAll(t, log, records)
	s := newTestCatchUps(t, log, bus.NewMemory(), 1<<20)
	log.reads = 0
	for from := uint64(1); from < 2900; from += 37 {
		for next := from; next <= 3000; {
			reply, err := s.records(t.Context(), next, wire.MaxFrame)
			if err != nil || reply.Records.Len() == 0 || reply.Last != 3000 {
				t.Fatalf("from %d: %+v, %v", next, reply, err)
			}
			if got := len(reply.Append(nil)); got > wire.MaxFrame {
				t.Fatalf("from %d: %d bytes", next, got)
			}
			reply.Records.Each(func(record []byte) bool {
				if string(record) != string(records[next-1]) {
					t.Fatalf("record %d differs", next)
				}
				next++
				return true
			})
			if at, _ := s.find(next - 1); at.last != next-1 {
				t.Fatalf("a reply ends with record %d, the segment with %d", next-1, at.last)
			}
		}
	}
	if at, _ := s.find(3000); log.reads != at.index+1 {
		t.Errorf("%d segments were read %d times", at.index+1, log.reads)
	}
}

func TestCatchUpOfAGrowingLog(t *testing.T) {
	records := longChain(t, 700, 200)
	log := &MemoryLog{}
	appendAll(t, log, records[:2])
	if err := log.AddMembers(t.Context(), ids(2)); err != nil {
		t.Fatal(err)
	}
	c, err := newCore(t.Context(), nil, log, 2)
	if err != nil {
		t.Fatal(err)
	}
	s := newTestCatchUps(t, log, bus.NewMemory(), 1<<20)
	s.find = func(n uint64) (span, uint64) {
		if n > c.n {
			return span{}, c.n
		}
		return c.segments.find(n), c.n
	}
	for n := uint64(2); n < 700; n++ {
		first := c.segments.find(n).first
		reply, err := s.records(t.Context(), first, wire.MaxFrame)
		if err != nil || uint64(reply.Records.Len()) != n-first+1 {
			t.Fatalf("log of %d records, from %d: %d records, %v", n, first, reply.Records.Len(), err)
		}
		if none, err := s.records(t.Context(), n+1, wire.MaxFrame); err != nil || none.Records.Len() != 0 || none.Last != n {
			t.Fatalf("log of %d records, from %d: %+v, %v", n, n+1, none, err)
		}
		appendAll(t, log, records[n:n+1])
		if _, err := c.move(records[n]); err != nil {
			t.Fatal(err)
		}
	}
	// Started again, the borders are the same.
	again, err := newCore(t.Context(), nil, log, 3)
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(again.segments) != fmt.Sprint(c.segments) || len(c.segments.first) < 3 {
		t.Errorf("segments %v, after a restart %v", c.segments, again.segments)
	}
}

func TestCatchUpCacheIsBounded(t *testing.T) {
	log := &countedLog{reads: -1000}
	appendAll(t, log, longChain(t, 4000, 400))
	const most = 300 << 10
	s := newTestCatchUps(t, log, bus.NewMemory(), most)
	rng := rand.New(rand.NewPCG(1, 9))
	for range 500 {
		if _, err := s.records(t.Context(), 1+rng.Uint64N(4000), wire.MaxFrame); err != nil {
			t.Fatal(err)
		}
		size := 0
		for e := s.cache.order.Front(); e != nil; e = e.Next() {
			size += e.Value.(*heldSegment).size
		}
		if size != s.cache.size || size > most || len(s.cache.at) != s.cache.order.Len() {
			t.Fatalf("the cache has %d bytes in %d segments, says %d of %d", size, s.cache.order.Len(), s.cache.size, most)
		}
	}
	// The segment that was asked for last is the last to go.
	s.cache.most = -1
	for range 3 {
		before := log.reads
		for range 2 {
			if _, err := s.records(t.Context(), 2000, wire.MaxFrame); err != nil {
				t.Fatal(err)
			}
		}
		if log.reads > before+1 {
			t.Errorf("one segment was read %d times", log.reads-before)
		}
		if _, err := s.records(t.Context(), 1, wire.MaxFrame); err != nil || s.cache.order.Len() != 1 {
			t.Errorf("%d segments are cached, %v; want 1", s.cache.order.Len(), err)
		}
	}
}

// A tornLog cannot be read while torn is set, or beyond its end.
type tornLog struct {
	MemoryLog
	torn  atomic.Bool
	short atomic.Bool
}

func (l *tornLog) Read(ctx context.Context, from uint64, f func(n uint64, record []byte) bool) error {
	if l.torn.Load() {
		return errDisk
	}
	if l.short.Load() && from > 1 {
		return nil
	}
	return l.MemoryLog.Read(ctx, from, f)
}

func TestCatchUpOfALogThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &tornLog{}
		appendAll(t, log, longChain(t, 900, 200))
		if err := log.AddMembers(t.Context(), ids(2)); err != nil {
			t.Fatal(err)
		}
		r := run(t, Config{Log: log, CatchUpCache: -1})
		synctest.Wait()
		ask := func(from uint64) error {
			request := wire.CatchUpRequest{From: from, MaxBytes: wire.MaxFrame}
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			defer cancel()
			b, err := r.bus.Request(ctx, wire.CatchUpSubject("r", "x"), request.Append(nil))
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
		if s.Counters.CatchUpErrors != 1 || s.CatchUpError != errDisk.Error() || s.Counters.CatchUps != 0 {
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

// BenchmarkCatchUp serves 200 devices a log of 1,000 records each, of a size
// that DeComFL has with P = 10, from where they are behind to its end.
func BenchmarkCatchUp(b *testing.B) {
	log := &MemoryLog{}
	appendAll(b, log, longChain(b, 20_000, 40))
	memory := bus.NewMemory()
	defer memory.Close()
	s := newTestCatchUps(b, log, memory, 16<<20)
	served := 0
	b.ReportAllocs()
	for b.Loop() {
		for device := range uint64(200) {
			for next := 19_001 - device; next <= 20_000; {
				reply, err := s.records(b.Context(), next, wire.MaxFrame)
				if err != nil {
					b.Fatal(err)
				}
				s.frame = reply.Append(s.frame[:0])
				next += uint64(reply.Records.Len())
				served += reply.Records.Len()
			}
		}
	}
	b.ReportMetric(float64(served)/b.Elapsed().Seconds(), "records/s")
}

// BenchmarkCatchUpSegments serves whole segments.
func BenchmarkCatchUpSegments(b *testing.B) {
	log := &MemoryLog{}
	appendAll(b, log, longChain(b, 20_000, 40))
	memory := bus.NewMemory()
	defer memory.Close()
	s := newTestCatchUps(b, log, memory, 16<<20)
	served := 0
	b.ReportAllocs()
	for b.Loop() {
		for next := uint64(1); next <= 20_000; {
			request := wire.CatchUpRequest{From: next, MaxBytes: wire.MaxFrame}
			at, _ := s.find(next)
			s.answer(b.Context(), waitingRequest{bus.Message{Reply: "_INBOX.x", Data: request.Append(nil)}, time.Now()})
			served += int(at.last + 1 - next)
			next = at.last + 1
		}
	}
	b.ReportMetric(float64(served)/b.Elapsed().Seconds(), "records/s")
}

// A silentLog has nothing to say to those who read it, from some time on.
type silentLog struct {
	MemoryLog
	silent atomic.Bool
}

func (l *silentLog) Read(ctx context.Context, from uint64, f func(n uint64, record []byte) bool) error {
	if l.silent.Load() {
		<-ctx.Done()
		return context.Cause(ctx)
	}
	return l.MemoryLog.Read(ctx, from, f)
}

// Whatever ends Run ends a catch-up that waits for the log.
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
			appendAll(t, &log.MemoryLog, chain(t, 3))
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
				_, _ = r.bus.Request(ctx, wire.CatchUpSubject("r", "d0"), request.Append(nil)) // nobody answers
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
