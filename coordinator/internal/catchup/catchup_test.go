package catchup

import (
	"context"
	"crypto/ed25519"
	"log/slog"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/coordinator/internal/chaintest"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/signed"
)

// testConfig returns the configuration of a service on b.
func testConfig(b bus.Bus) Config {
	return Config{Bus: b, Logger: slog.New(slog.DiscardHandler), Patience: time.Minute, Queue: 16}
}

// A readCounter counts how often a log is read.
type readCounter struct {
	runlog.Memory
	reads int
}

func (l *readCounter) Read(ctx context.Context, from uint64,
	f func(n uint64, record []byte) bool) error {
	l.reads++
	return l.Memory.Read(ctx, from, f)
}

// newTestCatchUps returns a service for a log.
func newTestCatchUps(t testing.TB, log runlog.Log, b bus.Bus, cache int) *CatchUps {
	t.Helper()
	var s Segments
	err := log.Read(t.Context(), 1, func(_ uint64,
		record []byte) bool {
		s.Add(len(record))
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	return NewCatchUps(testConfig(b), log, cache, func(n uint64) (Span, uint64) {
		if n > s.Last {
			return Span{}, s.Last
		}
		return s.Find(n), s.Last
	})
}

func TestSegmentBordersNeverMove(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	var s Segments
	var lengths []int
	borders := map[uint64]uint64{} // first: last
	for n := uint64(1); n <= 3000; n++ {
		length := 1 + rng.IntN(100)
		if rng.IntN(40) == 0 {
			length = 1 + rng.IntN(wire.MaxRecord)
		}
		lengths = append(lengths, length)
		s.Add(length)
		for first, last := range borders {
			if at := s.Find(first); at.First != first || at.last != last {
				t.Fatalf("after record %d, segment %d to %d has become %+v", n, first, last, at)
			}
		}
		if at := s.Find(n); at.last != n {
			t.Fatalf("record %d is in %+v", n, at)
		} else if at.First == n && n > 1 {
			before := s.Find(n - 1)
			borders[before.First] = before.last
		}
	}
	for n := uint64(1); n <= s.Last; {
		at, size := s.Find(n), 0
		for i := at.First; i <= at.last; i++ {
			if got := s.Find(i); got != at {
				t.Fatalf("record %d is in %+v, want %+v", i, got, at)
			}
			size += lengths[i-1] + RecordHead
		}
		if at.First != n || size > segmentRoom && at.last > at.First || at.last < s.Last &&
			size+lengths[at.last]+RecordHead <= segmentRoom {
			t.Fatalf("segment %+v has %d bytes, the next record %d", at, size, lengths[at.last])
		}
		n = at.last + 1
	}
}

func TestCatchUpsMeetInSegments(t *testing.T) {
	log := &readCounter{}
	records := chaintest.LongRecords(t, 3000, 200)
	chaintest.Append(t, log, records)
	s := newTestCatchUps(t, log, bus.NewMemory(), 1<<20)
	log.reads = 0
	for from := uint64(1); from < 2900; from += 37 {
		for next := from; next <= 3000; {
			reply, err := s.Records(t.Context(), next, wire.MaxFrame)
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

// TestMaxBytes: an answer, with its signature, is no longer than the device asked for, unless it
// has one record only. A small device has no more room.
func TestMaxBytes(t *testing.T) {
	log := &runlog.Memory{}
	chaintest.Append(t, log, chaintest.LongRecords(t, 300, 200))
	for _, key := range []ed25519.PrivateKey{nil, ed25519.NewKeyFromSeed(make([]byte, 32))} {
		cfg, network := testConfig(bus.NewMemory()), bus.NewMemory()
		defer network.Close()
		cfg.Bus = network
		if key != nil {
			signer, err := signed.NewSigner(key)
			if err != nil {
				t.Fatal(err)
			}
			cfg.Sign = func(subject string, request, answer []byte) []byte {
				return signer.Answer(subject, signed.RequestOf(request), answer)
			}
		}
		s := newTestCatchUps(t, log, network, 1<<20)
		s.answerer = newAnswerer(&cfg, "catch-up", s.reply)
		full, rng := 0, rand.New(rand.NewPCG(3, 3))
		for range 3000 {
			most := 1 + rng.Uint64N(4000)
			request := (&wire.CatchUpRequest{From: 1 + rng.Uint64N(300), MaxBytes: most}).Append(nil)
			if key != nil {
				request = signed.Ask(request, [signed.NonceLen]byte{1})
			}
			frame, err := s.reply(t.Context(), request, nil)
			if err != nil {
				t.Fatal(err)
			}
			reply, err := wire.DecodeCatchUpReply(frame)
			if key != nil {
				frame = cfg.Sign("zo.r.c.d0", request, frame)
			}
			if n := reply.Records.Len(); err != nil || n == 0 || n > 1 && len(frame) > int(most) {
				t.Fatalf("%d records in %d bytes, of at most %d; %v", n, len(frame), most, err)
			} else if n > 1 {
				full++
			}
		}
		if full < 1000 {
			t.Errorf("%d answers have more than one record, want most of 3000", full)
		}
	}
}

func TestCatchUpCacheIsBounded(t *testing.T) {
	log := &readCounter{}
	chaintest.Append(t, log, chaintest.LongRecords(t, 4000, 400))
	const most = 300 << 10
	s := newTestCatchUps(t, log, bus.NewMemory(), most)
	rng := rand.New(rand.NewPCG(1, 9))
	for range 500 {
		if _, err := s.Records(t.Context(), 1+rng.Uint64N(4000), wire.MaxFrame); err != nil {
			t.Fatal(err)
		}
		size := 0
		for e := s.cache.order.Front(); e != nil; e = e.Next() {
			size += e.Value.(*heldSegment).size
		}
		if size != s.cache.size || size > most || len(s.cache.at) != s.cache.order.Len() {
			t.Fatalf("the cache has %d bytes in %d segments, says %d of %d", size,
				s.cache.order.Len(), s.cache.size, most)
		}
	}
	// The cache drops the most recently requested segment last.
	s.cache.most = -1
	for range 3 {
		before := log.reads
		for range 2 {
			if _, err := s.Records(t.Context(), 2000, wire.MaxFrame); err != nil {
				t.Fatal(err)
			}
		}
		if log.reads > before+1 {
			t.Errorf("one segment was read %d times", log.reads-before)
		}
		if _, err := s.Records(t.Context(), 1, wire.MaxFrame); err != nil ||
			s.cache.order.Len() != 1 {
			t.Errorf("%d segments are cached, %v; want 1", s.cache.order.Len(), err)
		}
	}
}

// BenchmarkCatchUp serves 200 devices that are about 1,000 records behind, each to the end of the
// log. Records have the size of DeComFL's with P = 10.
func BenchmarkCatchUp(b *testing.B) {
	log := &runlog.Memory{}
	chaintest.Append(b, log, chaintest.LongRecords(b, 20_000, 40))
	memory := bus.NewMemory()
	defer memory.Close()
	s := newTestCatchUps(b, log, memory, 16<<20)
	served := 0
	b.ReportAllocs()
	for b.Loop() {
		for device := range uint64(200) {
			for next := 19_001 - device; next <= 20_000; {
				reply, err := s.Records(b.Context(), next, wire.MaxFrame)
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
	log := &runlog.Memory{}
	chaintest.Append(b, log, chaintest.LongRecords(b, 20_000, 40))
	memory := bus.NewMemory()
	defer memory.Close()
	s := newTestCatchUps(b, log, memory, 16<<20)
	served := 0
	b.ReportAllocs()
	for b.Loop() {
		for next := uint64(1); next <= 20_000; {
			request := wire.CatchUpRequest{From: next, MaxBytes: wire.MaxFrame}
			at, _ := s.find(next)
			s.answer(b.Context(), waitingRequest{bus.Message{Reply: "_INBOX.x",
				Data: request.Append(nil)}, time.Now()})
			served += int(at.last + 1 - next)
			next = at.last + 1
		}
	}
	b.ReportMetric(float64(served)/b.Elapsed().Seconds(), "records/s")
}
