package coordinator

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/coordinator/internal/catchup"
	"github.com/zofl/zofl/coordinator/internal/chaintest"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/wire"
)

// A slowBus is a link of limited rate. A slowBus delivers in order, and its Check returns once all
// earlier messages are delivered.
type slowBus struct {
	*bus.Memory
	rate  float64 // bytes a second
	mu    sync.Mutex
	ready time.Time     // when everything published so far is delivered
	most  time.Duration // the longest wait of a small message
}

func (b *slowBus) Publish(subject string, data []byte) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	now := time.Now()
	if b.ready.Before(now) {
		b.ready = now
	}
	wait := time.Duration(float64(len(data)) / b.rate * 1e9)
	if len(data) < 10_000 {
		b.most = max(b.most, b.ready.Sub(now))
	}
	b.ready = b.ready.Add(wait)
	data = append([]byte(nil), data...)
	time.AfterFunc(time.Until(b.ready), func() { _ = b.Memory.Publish(subject, data) })
	return nil
}

func (b *slowBus) Check(ctx context.Context, subject string) error {
	b.mu.Lock()
	wait := time.Until(b.ready)
	b.mu.Unlock()
	select {
	case <-time.After(wait):
	case <-ctx.Done():
	}
	return b.Memory.Check(ctx, subject)
}

// TestThousandsCatchUpAtOnce has 3,000 devices ask for 64 KiB each at the same moment. The link of
// 100 Mbit/s needs 15 s for the answers. Meanwhile the coordinator runs rounds in which devices
// take half a second.
func TestThousandsCatchUpAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const rate, asking = 12.5e6, 3000
		log := &runlog.Memory{}
		chaintest.Append(t, log, chaintest.LongRecords(t, 2000, 600))
		if err := log.AddMembers(t.Context(), ids(2)); err != nil {
			t.Fatal(err)
		}
		b := &slowBus{Memory: bus.NewMemory(), rate: rate}
		defer b.Close()
		r := run(t, Config{Log: log, Bus: b})
		r.bus = b.Memory
		synctest.Wait()
		r.join(ids(2), func(d *device, a *wire.Announcement) {
			time.AfterFunc(500*time.Millisecond, func() { contribute(d, a) })
		})
		pass(10 * time.Second) // an announcement was repeated, with records
		before := r.count(report.RoundDone)
		pass(5 * time.Second)
		alone := r.count(report.RoundDone) - before
		if alone < 8 {
			t.Fatalf("%d rounds are done in 5 s", alone)
		}
		var served atomic.Uint64
		var devices sync.WaitGroup
		for i := range asking {
			devices.Go(func() {
				request := wire.CatchUpRequest{From: 1 + uint64(i)%1900, MaxBytes: wire.MaxFrame}
				ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
				defer cancel()
				if _, err := b.Memory.Request(ctx, subjects.CatchUp("r", "x"),
					request.Append(nil)); err == nil {
					served.Add(1)
				}
			})
		}
		before = r.count(report.RoundDone)
		pass(5 * time.Second)
		rounds := r.count(report.RoundDone) - before
		devices.Wait()
		s := r.Status()
		// An announcement waits only for what was sent before it.
		if limit := time.Duration(float64(catchup.Pace)/rate*1e9) +
			10*time.Millisecond; b.most > limit {
			t.Errorf("an announcement waited %v, want at most %v", b.most, limit)
		}
		if rounds < alone*8/10 {
			t.Errorf("%d rounds were done in 5 s of catching up, %d in 5 s before", rounds, alone)
		}
		if got := s.Counters.CatchUps; got != served.Load() || got < 350 {
			t.Errorf("%d of %d were served, %d in time", got, asking, served.Load())
		}
		if s.Counters.Stale+s.Counters.CatchUps != asking || s.Counters.Overflow != 0 {
			t.Errorf("counters %+v, want every request served or stale", s.Counters)
		}
	})
}
