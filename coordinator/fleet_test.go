package coordinator

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/coordinator/internal/chaintest"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/compact"
)

// A device answers announcements by a function.
type device struct {
	t      testing.TB
	bus    bus.Bus
	id     string
	plan   *plan.Plan
	slot   uint32
	answer func(d *device, a *wire.Announcement)

	answering chan struct{} // one answer at a time; a mutex would stop the bubble's time

	mu   sync.Mutex // guards what follows
	tips map[uint64]wire.Tip
	seen []wire.Announcement
}

// newDevice joins the run, subscribes to its announcements, and joins again to learn the current
// announcement.
func newDevice(t testing.TB, b bus.Bus, id string,
	answer func(*device, *wire.Announcement)) *device {
	t.Helper()
	d := &device{t: t, bus: b, id: id, answer: answer, tips: map[uint64]wire.Tip{},
		answering: make(chan struct{}, 1)}
	join := d.join()
	record, err := wire.DecodeRecord(join.Plan)
	if err != nil {
		t.Fatal(err)
	}
	d.plan, d.slot = record.Plan, join.Slot
	d.tips[1] = wire.HashRecord(join.Plan).Tip()
	sub, err := b.Subscribe(subjects.Announce("r", subjects.Shard(id, d.plan.Shards)), d.announced)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { sub.Unsubscribe() })
	// The device's answer may complete a round. While a log that stalls appends the record, the
	// coordinator answers no join.
	d.answering <- struct{}{}
	join = d.join()
	<-d.answering
	if len(join.Announcement) > 0 {
		d.announced(bus.Message{Data: join.Announcement})
	}
	return d
}

func (d *device) join() wire.JoinReply {
	d.t.Helper()
	frame, err := d.bus.Request(context.Background(), subjects.Join("r", d.id),
		(&wire.JoinRequest{}).Append(nil))
	if err != nil {
		d.t.Fatalf("join: %v", err)
	}
	reply, err := wire.DecodeJoinReply(frame)
	if err != nil || reply.Status != wire.JoinOK {
		d.t.Fatalf("join: %+v, %v", reply, err)
	}
	return reply
}

func (d *device) announced(m bus.Message) {
	of, err := compact.Decode(m.Data)
	if err != nil {
		d.t.Errorf("announcement: %v", err)
		return
	}
	a := of.Announcement
	d.mu.Lock()
	if of.Compact() {
		d.tips[a.N-1] = of.Tip
	}
	n := a.N - uint64(a.Records.Len())
	a.Records.Each(func(record []byte) bool {
		d.tips[n] = wire.HashRecord(record).Tip()
		n++
		return true
	})
	d.seen = append(d.seen, a)
	d.mu.Unlock()
	if d.answer != nil {
		d.answering <- struct{}{}
		defer func() { <-d.answering }()
		d.answer(d, &a)
	}
}

func (d *device) send(r wire.Reply) {
	d.mu.Lock()
	if r.Tip == (wire.Tip{}) {
		n := r.N
		if r.Kind == wire.Contribution || r.Kind == wire.Decline {
			n--
		}
		r.Tip = d.tips[n]
	}
	d.mu.Unlock()
	err := d.bus.Publish(subjects.Reply("r", subjects.Shard(d.id, d.plan.Shards), d.id),
		r.Append(nil))
	if err != nil && !errors.Is(err, bus.ErrClosed) {
		d.t.Error(err)
	}
}

// contribute answers rounds that ask the device, with loss 1/N.
func contribute(d *device, a *wire.Announcement) {
	if a.State == wire.Open && a.Cohort.Has("r", a.N, a.Attempt, d.slot, d.id) {
		d.send(contributionTo(a, 0.5, -0.25))
	}
}

func contributionTo(a *wire.Announcement, g ...float32) wire.Reply {
	return wire.Reply{
		Kind: wire.Contribution, N: a.N, Weight: 1, Loss: 1 / float32(a.N),
		Values: wire.AppendScalars(nil, g...),
	}
}

// last returns the newest announcement that d has seen.
func (d *device) last() wire.Announcement {
	d.mu.Lock()
	defer d.mu.Unlock()
	if len(d.seen) == 0 {
		return wire.Announcement{}
	}
	return d.seen[len(d.seen)-1]
}

// A running is a running coordinator with the events that its recorder received.
type running struct {
	*Coordinator
	t      testing.TB
	bus    *bus.Memory
	cancel context.CancelCauseFunc
	done   chan error

	mu     sync.Mutex // guards events
	events []report.Event
}

// run starts a coordinator inside a synctest bubble.
func run(t testing.TB, cfg Config) *running {
	t.Helper()
	r := &running{t: t, done: make(chan error, 1)}
	if cfg.Bus == nil {
		r.bus = bus.NewMemory()
		cfg.Bus = r.bus
		t.Cleanup(r.bus.Close)
	}
	if cfg.Log == nil {
		cfg.Log = &runlog.Memory{}
	}
	cfg.Recorder = report.RecorderFunc(func(e report.Event) error {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.events = append(r.events, e)
		return nil
	})
	var err error
	if r.Coordinator, err = New(t.Context(), cfg); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	r.cancel = cancel
	t.Cleanup(func() { cancel(context.Canceled) })
	go func() { r.done <- r.Run(ctx) }()
	return r
}

// count returns the number of events of a kind.
func (r *running) count(kind report.EventKind) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	n := 0
	for _, e := range r.events {
		if e.Kind == kind {
			n++
		}
	}
	return n
}

// pass lets time pass inside a synctest bubble.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

var ids, densePlan = chaintest.IDs, chaintest.DensePlan

var errDisk = errors.New("no space left on device")

// join joins devices that answer announcements.
func (r *running) join(ids []string, answer func(*device, *wire.Announcement)) []*device {
	r.t.Helper()
	devices := make([]*device, len(ids))
	for i, id := range ids {
		devices[i] = newDevice(r.t, r.bus, id, answer)
	}
	return devices
}
