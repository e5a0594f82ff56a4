package engine

import (
	"bytes"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/zofl/zofl/coordinator/internal/aggregate"
	"github.com/zofl/zofl/coordinator/internal/chaintest"
	"github.com/zofl/zofl/coordinator/internal/uploads"
	"github.com/zofl/zofl/wire"
)

// mustHold checks the invariants of the vectors that have arrived in part.
func mustHold(t testing.TB, s *uploads.Uploads) {
	t.Helper()
	if err := s.Check(); err != nil {
		t.Fatal(err)
	}
}

// Devices for which no memory is left wait. Devices whose vector has begun complete that vector.
func TestUploadsWaitForAPlace(t *testing.T) {
	const devices, elements, places = 20, 1000, 3
	plan := densePlan(t, devices)
	plan.Dim = elements
	c, log := newDenseCore(t, plan)
	c.vectors.Most = places * (4*elements + uploads.Room)
	list := senders(rand.New(rand.NewPCG(1, 2)), devices, elements)
	at := make([]int, devices)
	waits := map[uint64]bool{}
	for done := 0; done < devices; {
		for i, d := range list {
			if at[i] == 4*elements {
				continue
			}
			r, out := sendFrame(t, c, 1, d.id, d.frame(c, at[i], 1000))
			mustHold(t, &c.vectors.Uploads)
			switch r.State {
			case wire.UploadMore:
				at[i] = int(r.Offset)
			case wire.UploadTaken:
				at[i] = 4 * elements
				done++
			case wire.UploadBusy:
				waits[r.Wait] = true
			default:
				t.Fatalf("%s: %+v", d.id, r)
			}
			storeAll(t, c, log, out)
		}
	}
	if _, data := lastRound(t, log); !bytes.Equal(data,
		chaintest.Vector(exactMean(list, false)...)) {
		t.Error("the mean is not that of all vectors")
	}
	if c.counters.Busy == 0 || len(waits) < 4 || c.vectors.Evicted > 0 {
		t.Errorf("counters %+v, %d evicted, waits %v; want devices to wait, not all alike",
			c.counters, c.vectors.Evicted, waits)
	}
}

// There is always memory for one vector, however large.
func TestOneUploadAlways(t *testing.T) {
	c, log := newDenseCore(t, densePlan(t, 2))
	c.vectors.Most = 1
	list := senders(rand.New(rand.NewPCG(3, 4)), 2, 4)
	list[0].piece(t, c, 1, 0, 8, wire.UploadMore, 8)
	list[1].piece(t, c, 1, 0, 8, wire.UploadBusy, 0)
	list[0].piece(t, c, 1, 8, 8, wire.UploadTaken, 0)
	list[1].piece(t, c, 1, 0, 8, wire.UploadMore, 8)
	storeAll(t, c, log, list[1].whole(t, c, 1)) // in one piece it needs no memory
	mustHold(t, &c.vectors.Uploads)
}

// A vector loses its memory to another vector after 10 s without a new piece, and not earlier.
func TestIdleUploadGivesItsPlace(t *testing.T) {
	plan := densePlan(t, 3)
	plan.Dim, plan.Deadline = 1000, 1_000_000
	c, _ := newDenseCore(t, plan)
	c.vectors.Most = 2 * (4000 + uploads.Room)
	list := senders(rand.New(rand.NewPCG(5, 6)), 3, 1000)
	list[0].piece(t, c, 0, 0, 1500, wire.UploadMore, 1500)
	list[1].piece(t, c, 5_000, 0, 1500, wire.UploadMore, 1500)
	list[2].piece(t, c, 9_999, 0, 1500, wire.UploadBusy, 0)
	list[0].piece(t, c, 9_999, 1500, 1023, wire.UploadMore, 2523) // too small to count as new
	list[0].piece(t, c, 9_999, 2523, 0, wire.UploadMore, 2523)
	list[2].piece(t, c, 10_000, 0, 1500, wire.UploadMore, 1500)
	list[0].piece(t, c, 10_001, 2523, 1500, wire.UploadBusy, 0)
	list[1].piece(t, c, 14_999, 1500, 1024, wire.UploadMore, 2524) // just in time
	list[0].piece(t, c, 19_999, 0, 1500, wire.UploadBusy, 0)
	list[0].piece(t, c, 20_000, 0, 1500, wire.UploadMore, 1500)
	list[2].piece(t, c, 20_001, 1500, 1500, wire.UploadBusy, 0)
	mustHold(t, &c.vectors.Uploads)
	if c.vectors.Evicted != 2 || c.Status().Counters.Evicted != 2 || c.counters.Busy != 4 {
		t.Errorf("%d evicted, counters %+v", c.vectors.Evicted, c.counters)
	}
}

// The core forgets partial vectors when their round closes, whatever closed the round.
func TestUploadsEndWithTheirRound(t *testing.T) {
	plan := densePlan(t, 2)
	plan.Quorum = 1
	for name, end := range map[string]func(c *Core) []Output{
		"deadline": func(c *Core) []Output { return c.Step(c.round.deadline, Input{Kind: InTick}) },
		"rollback": func(c *Core) []Output {
			return c.Step(1,
				Input{Kind: InRequest, Record: rollbackTo(1)})
		},
		"end": func(c *Core) []Output { return c.Step(1, Input{Kind: InEnd}) },
	} {
		c, log := newDenseCore(t, plan)
		list := senders(rand.New(rand.NewPCG(7, 8)), 2, 4)
		list[0].whole(t, c, 1)
		list[1].piece(t, c, 1, 0, 8, wire.UploadMore, 8)
		old := list[1].frame(c, 8, 8)
		c.vectors.Blame("d0", true)
		out := slices.Clone(end(c))
		if c.phase() != appending || c.vectors.Count() > 0 || c.vectors.Promised > 0 ||
			c.vectors.Faulty() > 0 {
			t.Errorf("%s: phase %d, %+v", name, c.phase(), c.vectors.Uploads)
		}
		for range 2 {
			if r, more := sendFrame(t, c, c.now, "d1", old); r.State != wire.UploadRefused ||
				len(more) > 0 {
				t.Errorf("%s: answer %+v, want that it is too late", name, r)
			}
			storeAll(t, c, log, out)
			out = nil
		}
		if c.counters.Late != 2 || c.N != 2 {
			t.Errorf("%s: after record %d: counters %+v", name, c.N, c.counters)
		}
	}
}

// A pause or another attempt does not drop partial vectors.
func TestUploadsOutliveAttempts(t *testing.T) {
	plan := densePlan(t, 2)
	plan.Quorum = 2
	c, log := newDenseCore(t, plan)
	list := senders(rand.New(rand.NewPCG(7, 8)), 2, 4)
	list[0].piece(t, c, 1, 0, 8, wire.UploadMore, 8)
	c.Step(c.round.deadline, Input{Kind: InTick})
	if c.cohort.Attempt.Number != 1 {
		t.Fatalf("attempt %d, want the second one", c.cohort.Attempt.Number)
	}
	c.Step(c.now, Input{Kind: InPause})
	list[0].piece(t, c, c.now, 8, 8, wire.UploadTaken, 0)
	list[1].piece(t, c, c.now, 0, 12, wire.UploadMore, 12)
	c.Step(c.now, Input{Kind: InResume})
	storeAll(t, c, log, list[1].piece(t, c, c.now, 12, 4, wire.UploadTaken, 0))
	if c.N != 2 {
		t.Errorf("after record %d, want a round", c.N)
	}
}

// A thousand devices that send at once take at most Config.UploadMemory bytes.
func TestUploadMemoryIsBounded(t *testing.T) {
	const devices, elements, most = 1000, 10_000, 1 << 20
	plan := densePlan(t, devices)
	plan.Dim = elements
	c, log := newDenseCore(t, plan)
	c.vectors.Most = most
	d := senders(rand.New(rand.NewPCG(9, 9)), 1, elements)[0] // all send the same vector
	digest := wire.HashObject(d.vector)
	d.digest = &digest
	before, peak := heap(), uint64(0)
	at := make([]int, devices)
	names := ids(devices)
	for done, pass := 0, 0; done < devices; pass++ {
		for i := range at {
			if at[i] == len(d.vector) {
				continue
			}
			r, out := sendFrame(t, c, 1, names[i], d.frame(c, at[i], 10_000))
			if at[i] = int(r.Offset); r.State == wire.UploadTaken {
				at[i] = len(d.vector)
				done++
			}
			storeAll(t, c, log, out)
		}
		if pass%16 == 1 {
			peak = max(peak, heap())
			mustHold(t, &c.vectors.Uploads)
		}
	}
	if grown := int64(peak) - int64(before); grown > 2*most {
		t.Errorf("the heap grew by %d KiB, want at most %d", grown>>10, 2*most>>10)
	}
	if _, data := lastRound(t, log); !bytes.Equal(data, d.vector) {
		t.Error("the mean of equal vectors is another one")
	}
}

// heap returns the bytes in use.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// FuzzUpload feeds a core arbitrary messages, from devices that also send good vectors. No input
// may make the core panic, take more memory than it may, or answer twice, and each good vector
// counts once.
func FuzzUpload(f *testing.F) {
	plan := densePlan(f, 3, "quorum=3")
	c, _ := newDenseCore(f, plan)
	d := &sender{id: "d0", vector: chaintest.Vector(1, 2, 3, 4), weight: 1}
	for _, at := range []int{0, 4, 12, 16} {
		f.Add(d.frame(c, at, 8), uint8(0), uint16(3))
	}
	f.Add([]byte{0xdd, 0xff, 0xff, 0xff, 0xff, 1, 1}, uint8(9), uint16(0))
	f.Fuzz(func(t *testing.T, frame []byte, who uint8, more uint16) {
		c, _ := newDenseCore(t, plan)
		c.vectors.Most = 600
		id := ids(4)[who%4]
		for now := range 3 {
			good := &sender{id: "d1", vector: chaintest.Vector(1, 2, 3, 4), weight: 1}
			sendFrame(t, c, uint64(now)*20_000, good.id,
				good.frame(c, int(more%20), int(more/20%20)))
			answers := 0
			for _, o := range c.Step(uint64(now)*20_000,
				Input{Kind: InUpload, ID: id, Token: "t", Frame: frame}) {
				if o.Kind != OutRespond {
					continue
				}
				answers++
				if r, err := wire.DecodeUploadReply(o.Frame); err != nil || r.State == 0 ||
					answers > 1 {
					t.Fatalf("answer %d is %+v, %v", answers, r, err)
				}
			}
			mustHold(t, &c.vectors.Uploads)
		}
		if c.chain.Taken > 2 || c.chain.Taken != c.cohort.Answers.Contributions {
			t.Fatalf("%d vectors count, of %d devices", c.chain.Taken, c.cohort.Answers.Contributions)
		}
	})
}

func BenchmarkUpload(b *testing.B) {
	const elements = 100_000
	plan := densePlan(b, 1000)
	plan.Dim = elements
	c, _ := newDenseCore(b, plan)
	d := senders(rand.New(rand.NewPCG(1, 1)), 1, elements)[0]
	var frames [][]byte
	for at := 0; at < len(d.vector); at += wire.MaxPiece {
		frames = append(frames, d.frame(c, at, wire.MaxPiece))
	}
	names := ids(1000)
	b.SetBytes(4 * elements)
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		if i == 999 {
			c.cohort.Answers.Reset()
			c.chain.Open(aggregate.Shape{Scalars: elements})
			c.round.losses = c.round.losses[:0]
			c.cohort.Pending = 1000
			i = 0
		}
		for _, frame := range frames {
			c.Step(1, Input{Kind: InUpload, ID: names[i], Token: "t", Frame: frame})
		}
		i++
	}
}
