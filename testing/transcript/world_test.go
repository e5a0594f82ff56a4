package transcript

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/coordinator"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/internal/memstore"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/preset"
)

const runName = "kitchen"

// A world is a run in memory, of which one device is recorded.
type world struct {
	*coordinator.Coordinator
	t       *testing.T
	head    head
	plan    *plan.Plan
	network *bus.Memory
	store   memstore.Store // of the recorded device; nil: none
	record  *recording
	lose    func(kind string, frame []byte) bool  // of the recorded device
	fails   func(n uint64) bool                   // likewise: the loss of record n
	bends   func(n uint64, value float64) float64 // likewise: its losses
	took    time.Duration                         // likewise: a loss
	ended   sync.WaitGroup

	mu    sync.Mutex     // guards what follows
	seen  *client.Client // the recorded device
	known uint64         // its last record with a line
}

// newWorld starts a coordinator.
func newWorld(t *testing.T, p *plan.Plan, room int, secret []byte) *world {
	w := &world{t: t, plan: p, network: bus.NewMemory(),
		head: head{run: p.Run, id: "d0", dim: int(p.Dim), samples: 12, room: room,
			secret: secret},
		record: &recording{began: time.Now()}, took: 10 * time.Millisecond}
	w.record.note = w.note
	lead, err := coordinator.New(t.Context(), coordinator.Config{Bus: w.network, Plan: p,
		Log: &runlog.Memory{}, Linger: 20 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	w.Coordinator = lead
	w.ended.Go(func() {
		if err := lead.Run(t.Context()); err != nil && t.Context().Err() == nil {
			t.Error(err)
		}
	})
	synctest.Wait()
	return w
}

// join starts devices with these numbers; 0 is the recorded one.
func (w *world) join(numbers ...int) {
	for _, i := range numbers {
		w.start(i)
		w.pass(100 * time.Millisecond)
	}
}

// start starts a device, and returns what stops it.
func (w *world) start(i int) (stop func()) {
	m := &model{dim: w.head.dim, samples: w.head.samples, device: i,
		took: time.Duration(10+i) * time.Millisecond}
	line := &tap{Memory: w.network, recording: &recording{}, room: w.head.room}
	if i == 0 {
		m.recording, m.took, m.fails, m.bends = w.record, w.took, w.fails, w.bends
		line.recording, line.lose = w.record, w.lose
		w.record.heard = nil
		w.record.add(map[bool]string{true: wake, false: begin}[len(w.store) > 0])
	}
	cfg := client.Config{Bus: line, Run: w.head.run, ID: fmt.Sprint("d", i),
		Objective: m, RunKey: w.head.secret, Workers: 1}
	if i == 0 && w.store != nil {
		cfg.Store, w.head.keeps = w.store, true
	}
	c, err := client.New(cfg)
	if err != nil {
		w.t.Fatal(err)
	}
	if i == 0 {
		w.see(c)
	}
	ctx, cancel := context.WithCancelCause(w.t.Context())
	stopped := errors.New("stopped")
	over := make(chan struct{})
	w.ended.Go(func() {
		defer close(over)
		err := c.Run(ctx)
		if err != nil && !errors.Is(err, stopped) && w.t.Context().Err() == nil {
			w.t.Errorf("device %d: %v", i, err)
		}
		if i == 0 && err == nil {
			w.record.add(finish)
		}
	})
	return func() {
		if i == 0 {
			w.record.add(leave)
			w.see(nil)
		}
		cancel(stopped)
		<-over
	}
}

// see sets the recorded device.
func (w *world) see(c *client.Client) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.seen, w.known = c, 0
}

// note writes a line with the digest of the recorded device's state, if it has changed.
func (w *world) note() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.seen == nil {
		return
	}
	if n, digest := w.seen.Digest(); n != w.known {
		w.known = n
		w.record.add(state, fmt.Sprint(n), fmt.Sprintf("%x", digest))
	}
}

// pass lets time pass, in steps so short that no state is missed.
func (w *world) pass(d time.Duration) {
	for range d / time.Millisecond {
		time.Sleep(time.Millisecond)
		synctest.Wait()
		w.note()
	}
}

// until lets time pass until the log has n rounds.
func (w *world) until(rounds uint64) {
	w.await(func(s report.Status) bool { return s.Rounds >= rounds })
}

func (w *world) await(done func(report.Status) bool) {
	w.t.Helper()
	for range 10_000 {
		if done(w.Status()) {
			return
		}
		w.pass(10 * time.Millisecond)
	}
	w.t.Fatalf("status %+v", w.Status())
}

// finish ends the run, and returns what was recorded.
func (w *world) finish() []line {
	w.await(func(s report.Status) bool { return s.State == report.Ended })
	w.pass(time.Second)
	w.ended.Wait()
	w.network.Close()
	return w.record.lines
}

// planOf returns a plan of a preset for three or four devices, with a fixed run key.
func planOf(t *testing.T, name string, dim uint64, edit func(*plan.Plan)) *plan.Plan {
	t.Helper()
	p, err := preset.Unbound(name, runName, dim)
	if err != nil {
		t.Fatal(err)
	}
	key := sha256.Sum256([]byte("transcript of " + name))
	p.RunKey, p.Members, p.Target, p.Quorum = slices.Clone(key[:]), 3, 3, 2
	p.DigestEvery, p.Perturbations = 4, min(p.Perturbations, 3)
	edit(p)
	preset.Fit(p)
	return p
}
