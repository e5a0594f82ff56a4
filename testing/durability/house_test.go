//go:build unix

package durability

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/coordinator"
	"github.com/zofl/zofl/coordinator/jetlog"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/preset"
	"github.com/zofl/zofl/testing/bowl"
	"github.com/zofl/zofl/testing/servers"
	"github.com/zofl/zofl/wire"
)

const (
	run      = "house"
	dim      = 20
	patience = 90 * time.Second
	// pace is how long a device computes a loss, so that rounds take little of the machine.
	pace = 10 * time.Millisecond
)

// A house is a run of two devices and two coordinators, of which one leads.
type house struct {
	t       *testing.T
	cluster *servers.Cluster
	plan    *plan.Plan
	devices []*client.Client
	ctx     context.Context // of all parties, until stop
	stop    context.CancelFunc
	parties sync.WaitGroup

	lost atomic.Uint64 // how many records are missing, as a coordinator knows

	mu    sync.Mutex // guards what follows
	acked map[uint64]wire.Hash
	loss  uint64   // that a person accepts
	last  uint64   // of acked
	said  []string // by coordinators, of records that are missing
}

// newHouse begins a run on three servers.
func newHouse(t *testing.T, opts servers.Options) *house {
	t.Helper()
	h := &house{t: t, cluster: servers.StartWith(t, 3, opts), acked: map[uint64]wire.Hash{}}
	h.agree()
	ctx, stop := context.WithCancel(context.Background())
	h.stop = stop
	t.Cleanup(func() { stop(); h.parties.Wait() })
	h.ctx = ctx
	for i := range 2 {
		h.parties.Go(func() { h.serve(ctx, fmt.Sprint("c", i)) })
		d, err := client.New(client.Config{
			Conn: h.cluster.Connect(t, fmt.Sprint("d", i)), Run: run, ID: fmt.Sprint("d", i),
			Objective: objective.Func(dim, slow(i)),
		})
		if err != nil {
			t.Fatal(err)
		}
		h.devices = append(h.devices, d)
		h.parties.Go(func() { _ = d.Run(ctx) }) // until the test stops it
	}
	h.more(10)
	return h
}

// slow is a loss that takes a while.
func slow(i int) func(context.Context, []float32, objective.Batch) (float64, error) {
	loss := bowl.Of(i)
	return func(ctx context.Context, x []float32, b objective.Batch) (float64, error) {
		select {
		case <-time.After(pace):
		case <-ctx.Done():
		}
		return loss(ctx, x, b)
	}
}

// serve does what `zofl serve --jetstream` does, and is restarted as by a service manager, except
// after it said that records are missing.
func (h *house) serve(ctx context.Context, name string) {
	nc := h.cluster.Connect(h.t, name)
	logger := slog.New(slog.NewTextHandler(h.t.Output(), nil)).With("at", name)
	for ctx.Err() == nil {
		err := h.lead(ctx, nc, logger, name)
		if errors.Is(err, runlog.ErrCorrupt) {
			h.say(fmt.Sprint(name, " ends: ", err))
			var loss *runlog.LossError
			if errors.As(err, &loss) {
				h.lost.Store(loss.Lost())
			}
			return
		}
		if err != nil && strings.Contains(err.Error(), "deadline exceeded") {
			h.t.Errorf("%s says what says nothing: %v", name, err)
		}
		logger.Info("restarted", "err", err)
		select {
		case <-ctx.Done():
		case <-time.After(100 * time.Millisecond):
		}
	}
}

func (h *house) lead(ctx context.Context, nc *nats.Conn, logger *slog.Logger,
	name string) error {
	log, err := jetlog.Open(ctx, jetlog.Config{Conn: nc, Run: run, Replicas: 3, Name: name,
		LeaseTTL: 2 * time.Second, Timeout: 2 * time.Second,
		Logger: logger})
	if err != nil {
		return err
	}
	defer log.Close()
	c, err := coordinator.New(ctx, coordinator.Config{
		Conn: nc, Plan: h.plan, Log: &watched{log, h}, Recorder: report.RecorderFunc(h.record),
		AppendTimeout: 2 * time.Second, AcceptLoss: h.accepted(), Logger: logger,
	})
	if err != nil {
		return err
	}
	return c.Run(ctx)
}

// agree makes the plan of the run.
func (h *house) agree() {
	p, err := preset.New("decomfl", run, dim)
	if err != nil {
		h.t.Fatal(err)
	}
	p.Members, p.Target, p.Quorum, p.Rounds = 2, 2, 2, 1_000_000
	p.StepSize, p.Deadline, p.Reannounce = 0.05, 2000, 500
	h.plan = p
}

// record notes why a run pauses, if records are missing.
func (h *house) record(e report.Event) error {
	if e.Kind == report.RunPaused && strings.Contains(e.Reason, "record ") &&
		strings.Contains(e.Reason, "device ") {
		h.say(e.Reason)
	}
	return nil
}

func (h *house) say(what string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.said = append(h.said, what)
}

func (h *house) accepted() uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.loss
}

// A watched is a log that tells the oracle which records were acknowledged.
type watched struct {
	*jetlog.Log
	house *house
}

func (w *watched) Append(ctx context.Context, n uint64, record []byte) error {
	err := w.Log.Append(ctx, n, record)
	if err == nil {
		h := w.house
		h.mu.Lock()
		defer h.mu.Unlock()
		h.last = max(h.last, n)
		if _, known := h.acked[n]; !known { // another record at its place means that it is lost
			h.acked[n] = wire.HashRecord(record)
		}
	}
	return err
}

// more waits until both devices have count more records.
func (h *house) more(count uint64) {
	h.t.Helper()
	until := h.heard() + count
	h.await("more records", func() bool { return h.reached(until) })
}

// heard returns the last record that was acknowledged.
func (h *house) heard() uint64 {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.last
}

func (h *house) reached(n uint64) bool {
	for _, d := range h.devices {
		if at, _ := d.Digest(); at < n {
			return false
		}
	}
	return true
}

// await waits for what becomes true by itself.
func (h *house) await(what string, done func() bool) {
	h.t.Helper()
	for end := time.Now().Add(patience); !done(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			h.t.Fatalf("waited %v for %s; said: %q", patience, what, h.words())
		}
	}
}

func (h *house) words() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]string(nil), h.said...)
}

// settle waits until the run has gone on for a while, or somebody said that records are gone.
func (h *house) settle() {
	h.t.Helper()
	if !h.goesOn(patience) {
		h.t.Fatalf("in %v the run has not gone on, and nobody has said a word", patience)
	}
}

// goesOn is settle with a limit of time, and says whether it was kept.
func (h *house) goesOn(within time.Duration) bool {
	until := h.heard() + 5
	for end := time.Now().Add(within); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if len(h.words()) > 0 || h.reached(until) {
			return true
		}
	}
	return false
}

// judge stops all, and holds the log and the devices against what was acknowledged. It returns how
// many acknowledged records are missing.
func (h *house) judge() (missing int) {
	h.t.Helper()
	h.stop()
	h.parties.Wait()
	digests, hashes := h.stored()
	silent := func(format string, args ...any) {
		if len(h.words()) == 0 {
			h.t.Errorf(format+", and nobody has said so", args...)
		}
	}
	for n, want := range h.acked {
		if hashes[n] != want {
			missing++
			silent("record %d was acknowledged, and the log has another or none", n)
		}
	}
	for i, d := range h.devices {
		if n, digest := d.Digest(); n > 0 && digests[n] != digest {
			silent("device %d has another state after record %d than the log of %d records", i, n,
				len(hashes))
		}
	}
	h.t.Logf("%d records acknowledged, %d missing; said: %q", len(h.acked), missing, h.words())
	return missing
}

// stored replays the log.
func (h *house) stored() (digests map[uint64][32]byte, hashes map[uint64]wire.Hash) {
	h.t.Helper()
	digests, hashes = map[uint64][32]byte{}, map[uint64]wire.Hash{}
	nc := h.cluster.Connect(h.t, "oracle")
	var log *jetlog.Log
	servers.Eventually(h.t, "the log", func() (err error) {
		log, err = jetlog.Open(h.t.Context(), jetlog.Config{Conn: nc, Run: run, Existing: true})
		if errors.Is(err, runlog.ErrNoLog) || errors.Is(err, runlog.ErrCorrupt) {
			h.say(err.Error())
			return nil
		}
		return err
	})
	if log == nil {
		return digests, hashes
	}
	w := replica.New(replica.Config{Run: run})
	err := log.Read(h.t.Context(), 1, func(n uint64, record []byte) bool {
		if err := w.Apply(record); err != nil {
			h.t.Errorf("record %d: %v", n, err)
			return false
		}
		digests[n], hashes[n] = w.Digest(), wire.HashRecord(record)
		return true
	})
	if err != nil && !errors.Is(err, runlog.ErrCorrupt) {
		h.t.Error(err)
	}
	return digests, hashes
}
