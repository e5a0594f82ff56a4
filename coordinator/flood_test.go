package coordinator

import (
	"context"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zofl/zofl/coordinator/internal/catchup"
	"github.com/zofl/zofl/coordinator/internal/chaintest"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/wire"
)

// TestFlood sends messages that no device would send, on every subject that a coordinator reads,
// while the coordinator runs rounds.
func TestFlood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		plan := chaintest.Plan(t)
		plan.Rounds = 30
		r := run(t, Config{Plan: plan})
		synctest.Wait()
		rng := rand.New(rand.NewPCG(3, 4))
		noise := make([]byte, wire.MaxFrame)
		for i := range noise {
			noise[i] = byte(rng.Uint32())
		}
		garbage := [][]byte{
			nil,
			{0xdd, 0xff, 0xff, 0xff, 0xff, 1, 1},
			{0xdf, 0xff, 0xff, 0xff, 0xff, 1, 1},
			{0x97, 1, 1, 2, 0xc6, 0xff, 0xff, 0xff, 0xff},
			noise,
			append(noise, noise...),
		}
		subjects := []string{
			subjects.Reply("r", 0, "d0"), subjects.Reply("r", 0, "stranger"),
			subjects.Reply("r", 7, "a*b"),
			subjects.Join("r", "x"), subjects.CatchUp("r", "x"),
		}
		sent := uint64(0)
		flood := func() {
			for _, frame := range garbage {
				for _, subject := range subjects {
					if r.bus.Publish(subject, frame) == nil {
						sent++
					}
				}
			}
		}
		flood()
		r.join(ids(2), func(d *device, a *wire.Announcement) {
			if a.State == wire.Open && d.slot == 0 {
				flood()
			}
			contribute(d, a)
		})
		if err := <-r.done; err != nil {
			t.Fatal(err)
		}
		s := r.Status()
		if s.Rounds != 30 {
			t.Errorf("%d rounds were done, want 30", s.Rounds)
		}
		if s.Counters.Malformed+s.Counters.Overflow != sent || s.Counters.Overflow > sent/2 {
			t.Errorf("%d frames of garbage, counters %+v", sent, s.Counters)
		}
	})
}

func TestQueueOverflowIsCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		r := run(t, Config{Plan: chaintest.Plan(t), Queue: 4, Log: &gatedLog{gate: gate}})
		synctest.Wait() // Run waits for record 1
		for range 10 {
			if err := r.bus.Publish(subjects.Reply("r", 0, "d0"), []byte{1}); err != nil {
				t.Fatal(err)
			}
		}
		synctest.Wait()
		close(gate)
		synctest.Wait()
		if c := r.Status().Counters; c.Overflow != 6 || c.Malformed != 4 {
			t.Errorf("counters %+v, want 6 dropped and 4 read", c)
		}
	})
}

func TestLongFramesAreNotQueued(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		r := run(t, Config{Plan: chaintest.Plan(t), Queue: 4, Log: &gatedLog{gate: gate}})
		synctest.Wait() // Run waits for record 1
		subjects := []string{subjects.Reply("r", 0, "d0"), subjects.Join("r", "d0"),
			subjects.CatchUp("r", "d0")}
		for range 10 {
			for _, subject := range subjects {
				if err := r.bus.Publish(subject, make([]byte, wire.MaxFrame+1)); err != nil {
					t.Fatal(err)
				}
			}
		}
		synctest.Wait()
		if got := r.arrivals.Len(); got != 0 {
			t.Errorf("%d frames that are too long are queued", got)
		}
		close(gate)
		synctest.Wait()
		if c := r.Status().Counters; c.Malformed != 30 || c.Overflow != 0 {
			t.Errorf("counters %+v, want 30 malformed", c)
		}
	})
}

// A gatedLog appends once its gate is open.
type gatedLog struct {
	runlog.Memory
	gate chan struct{}
}

func (l *gatedLog) Append(ctx context.Context, n uint64, record []byte) error {
	<-l.gate
	return l.Memory.Append(ctx, n, record)
}

func TestCatchUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &runlog.Memory{}
		records := chaintest.Records(t, 900)
		chaintest.Append(t, log, records)
		if err := log.AddMembers(t.Context(), ids(2)); err != nil {
			t.Fatal(err)
		}
		r := run(t, Config{Log: log})
		synctest.Wait()
		ask := func(from, most uint64) wire.CatchUpReply {
			request := wire.CatchUpRequest{From: from, MaxBytes: most}
			ctx, cancel := context.WithTimeout(context.Background(), time.Second)
			defer cancel()
			b, err := r.bus.Request(ctx, subjects.CatchUp("r", "x"), request.Append(nil))
			if err != nil {
				t.Fatal(err)
			}
			if bound := max(int(min(most, wire.MaxFrame)),
				len(records[from%900])+1000); len(b) > bound {
				t.Errorf("catch-up from %d in %d bytes came in %d", from, most, len(b))
			}
			reply, err := wire.DecodeCatchUpReply(b)
			if err != nil || reply.From != from || reply.Last != 900 {
				t.Errorf("catch-up from %d: %+v, %v", from, reply, err)
			}
			return reply
		}
		next := uint64(1)
		requests := 0
		for next <= 900 {
			requests++
			ask(next, 1<<30).Records.Each(func(record []byte) bool {
				if string(record) != string(records[next-1]) {
					t.Errorf("record %d differs", next)
				}
				next++
				return true
			})
		}
		if requests > 3 {
			t.Errorf("%d requests for %d records, want 3 at most", requests, len(records))
		}
		for _, test := range []struct {
			from, most uint64
			want       int
		}{{1, 0, 1}, {5, 10, 1}, {5, 400, (400 - catchup.CatchUpHead) / (len(records[4]) +
			catchup.RecordHead)}, {900, 1 << 20, 1}, {901, 1 << 20, 0}} {
			if got := ask(test.from, test.most).Records.Len(); got != test.want {
				t.Errorf("catch-up from %d in %d bytes: %d records, want %d", test.from, test.most,
					got, test.want)
			}
		}
		synctest.Wait() // an answer is counted once it is sent
		if got := r.Status().Counters.CatchUps; got != uint64(requests)+5 {
			t.Errorf("%d catch-ups were counted, want %d", got, requests+5)
		}
	})
}
