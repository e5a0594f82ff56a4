package day

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/coordinator"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/runlog"
)

// A world is a day in simulation. The network's goroutine owns the world, except what mu guards.
type world struct {
	cfg    Config
	net    *network
	task   *task
	phones []*phone
	c      *coordinator.Coordinator
	access *access // the coordinator's
	log    *log
	before report.Counters // at the beginning of the current hour
	bytes  [2]uint64       // sent and received by phones before it

	present int           // phones present now
	seconds float64       // of presence in this hour
	since   time.Duration // when present last changed

	mu       sync.Mutex // guards what follows
	history  *History
	hour     Hour          // the current one
	pausedAt time.Duration // while the run is paused; otherwise negative
}

// A log applies each record that it stores to a replica.
type log struct {
	runlog.Memory

	mu     sync.Mutex // guards what follows
	model  *replica.Replica
	states [][32]byte // after record n+1
	err    error      // the first record that could not be applied
}

// Append implements [runlog.Log].
func (l *log) Append(ctx context.Context, n uint64, record []byte) error {
	err := l.Memory.Append(ctx, n, record)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil || l.err != nil {
		return err
	}
	if l.err = l.model.Apply(record); l.err == nil {
		l.states = append(l.states, l.model.Digest())
	}
	return nil
}

// holds reports whether digest is the log's state after record n.
func (l *log) holds(n uint64, digest [32]byte) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return n <= uint64(len(l.states)) && digest == l.states[n-1]
}

// newWorld prepares a day. Call newWorld in the bubble of the virtual clock.
func newWorld(cfg Config, task *task) (*world, error) {
	w := &world{cfg: cfg, net: newNetwork(), task: task,
		history: &History{Seed: cfg.Seed, Devices: cfg.Devices},
		log:     &log{model: replica.New(replica.Config{Run: runName, Dim: Dim})}, pausedAt: -1}
	var err error
	w.access = w.net.access(&station{})
	w.c, err = coordinator.New(context.Background(), coordinator.Config{
		Bus: counting{w.access, &w.history.Arrived}, Plan: cfg.Plan, Log: w.log, Recorder: w,
	})
	if err != nil {
		return nil, fmt.Errorf("day: %w", err)
	}
	rng := rand.New(rand.NewPCG(cfg.Seed, 0x5eed))
	deviations := make([]float64, cfg.Devices)
	for i := range deviations {
		deviations[i] = rng.NormFloat64()
	}
	if cfg.Fleet.Biased {
		slices.Sort(deviations)
	}
	for i, d := range deviations {
		w.phones = append(w.phones, w.newPhone(i, d))
	}
	return w, nil
}

// counting counts the replies that reach the coordinator.
type counting struct {
	bus.Bus
	replies *uint64
}

// Subscribe implements [bus.Bus].
func (c counting) Subscribe(subject string, handle func(bus.Message)) (bus.Subscription, error) {
	if subject != replies {
		return c.Bus.Subscribe(subject, handle)
	}
	return c.Bus.Subscribe(subject, func(m bus.Message) {
		*c.replies++
		handle(m)
	})
}

// lastCalls is longer than a loss continues after its context has ended.
const lastCalls = time.Second

// run simulates the day.
func (w *world) run() *History {
	ctx, cancel := context.WithCancelCause(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := w.c.Run(ctx); err != nil && !errors.Is(err, errStopped) {
			w.fault("coordinator", err)
		}
	}()
	for _, p := range w.phones {
		p.awaitNext()
	}
	for at := w.cfg.Every; at < w.cfg.Length; at += w.cfg.Every {
		w.net.at(at, w.sample)
	}
	w.net.run(w.cfg.Length)
	w.finish()
	cancel(errStopped)
	<-done
	w.access.end()
	time.Sleep(lastCalls)
	return w.history
}

// caughtUp is how long a phone may take to catch up after its app or its radio came back.
const caughtUp = time.Minute

// finish compares the states of the present phones with the log, and stops the phones.
func (w *world) finish() {
	w.sample()
	behind := uint64(0)
	for _, p := range w.phones {
		if p.app == nil {
			continue
		}
		w.check(p)
		back := w.net.now() - p.since
		if n, _ := p.app.client.Record(); p.station.line == up && n > 0 && back >= caughtUp {
			behind = max(behind, w.log.Last()-n)
		}
		p.stop(false)
	}
	status := w.c.Status()
	w.log.mu.Lock()
	digest, err := w.log.model.Digest(), w.log.err
	w.log.mu.Unlock()
	if err != nil {
		w.fault("replica", err)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.resumed()
	h := w.history
	h.Behind, h.Lost, h.Digest = behind, w.net.lost, hex.EncodeToString(digest[:])
	h.FinalState, h.FinalReason, h.Counters = status.State, status.Reason, status.Counters
}

// check compares a phone's state with the log's.
func (w *world) check(p *phone) {
	n, digest := p.app.client.Digest()
	if n == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.history.States++
	if !w.log.holds(n, digest) {
		w.history.Differ = append(w.history.Differ, fmt.Sprintf("%s after record %d", p.id, n))
	}
}

// fault notes an error that should not occur.
func (w *world) fault(who string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.history.Faults = append(w.history.Faults, strings.Join([]string{who, err.Error()}, ": "))
}

// presence notes that more additional phones are present.
func (w *world) presence(more int) {
	now := w.net.now()
	w.seconds += float64(w.present) * (now - w.since).Seconds()
	w.since = now
	w.present += more
}
