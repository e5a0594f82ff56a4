package fleet

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/coordinator"
	"github.com/zofl/zofl/coordinator/filelog"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/coordinator/zofl/broker"
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/preset"
	"github.com/zofl/zofl/plan/valid"
	"github.com/zofl/zofl/testing/bowl"
	"github.com/zofl/zofl/wire"
)

// A denseRun is a run with transport=dense, a real broker and a log on disk.
type denseRun struct {
	t      *testing.T
	plan   *plan.Plan
	dir    string
	broker *broker.Broker
	all    sync.WaitGroup

	mu      sync.Mutex // guards what follows
	clients map[string]*client.Client
	sent    map[string][wire.ObjectLen]byte // digest by device, record and preceding hash
	last    uint64                          // record of the last piece
	middle  chan uint64                     // records of pieces that do not begin a vector
	resumed int                             // vectors that a new process sent again or continued
}

// densePlan returns a plan of two phases, in which not every device takes part in each
// phase.
func densePlan(t *testing.T, method string) *plan.Plan {
	t.Helper()
	p, err := preset.Unbound(method, "dense", wire.MaxPiece/4+500) // two pieces
	if err != nil {
		t.Fatal(err)
	}
	if method == "fedzo-dense" {
		p.Control = plan.ScaffoldPoint
	} else {
		p.Features, p.Window, p.Candidates, p.Active, p.Around = 20, 10, 4, 1, 1
	}
	p.Steps, p.Perturbations, p.DenseKeep = 2, min(p.Perturbations, 2), 2
	p.Members, p.Target, p.Quorum, p.OverSample, p.MaxAttempts = 4, 3, 2, 1, 1000
	p.Rounds, p.DigestEvery, p.Diverge = 60, 3, 0
	if slower > 1 {
		p.Rounds = 15
	}
	p.Deadline, p.Reannounce = 3000*min(slower, 5), 200
	if err := valid.Plan(p); err != nil {
		t.Fatal(err)
	}
	return p
}

// lead runs a coordinator over the log until the test calls stop. stop returns the coordinator's
// counters.
func (r *denseRun) lead(p *plan.Plan) (stop func() report.Counters) {
	r.t.Helper()
	log, err := filelog.Open(filepath.Join(r.dir, "log"))
	if err != nil {
		r.t.Fatal(err)
	}
	nc, _, err := r.broker.Connect("coordinator")
	if err != nil {
		r.t.Fatal(err)
	}
	c, err := coordinator.New(r.t.Context(),
		coordinator.Config{Conn: nc, Plan: p, Log: log, Linger: patience, Witnesses: []string{"w"}})
	if err != nil {
		r.t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- c.Run(ctx) }()
	return func() report.Counters {
		cancel(errFinished)
		if err := <-ended; err != nil && !errors.Is(err, errFinished) {
			r.t.Errorf("coordinator: %v", err)
		}
		nc.Close()
		if err := log.Close(); err != nil {
			r.t.Errorf("log: %v", err)
		}
		return c.Status().Counters
	}
}

// A watchedBus records the pieces that a device sends.
type watchedBus struct {
	bus.Bus
	id  string
	run *denseRun
}

func (b *watchedBus) Request(ctx context.Context, subject string, data []byte) ([]byte, error) {
	if subject == subjects.Upload(b.run.plan.Run, b.id) {
		if u, err := wire.DecodeUpload(data); err != nil {
			b.run.t.Errorf("%s: %v", b.id, err)
		} else {
			b.run.saw(b.id, &u)
		}
	}
	return b.Bus.Request(ctx, subject, data)
}

// saw checks that a device sends only one vector for a record.
func (r *denseRun) saw(id string, u *wire.Upload) {
	r.mu.Lock()
	defer r.mu.Unlock()
	key := fmt.Sprint(id, u.N, u.Tip)
	if was, ok := r.sent[key]; ok && was != u.Digest {
		r.t.Errorf("%s: two vectors for record %d", id, u.N)
	} else if ok && u.Offset == 0 {
		r.resumed++
	}
	r.sent[key] = u.Digest
	r.last = max(r.last, u.N)
	if u.Offset > 0 {
		select {
		case r.middle <- u.N:
		default:
		}
	}
}

var errKilled = errors.New("killed")

// device runs a device to the end of the run. The test kills the device in the middle of an upload,
// once for each record in deaths.
func (r *denseRun) device(ctx context.Context, id string, slow time.Duration, deaths ...uint64) {
	r.all.Go(func() {
		for {
			var at uint64
			if len(deaths) > 0 {
				at = deaths[0]
			}
			err := r.life(ctx, id, slow, at)
			if !errors.Is(err, errKilled) {
				if err != nil {
					r.t.Errorf("%s: %v", id, err)
				}
				return
			}
			deaths = deaths[1:]
		}
	})
}

// life runs a device until the test kills it in the middle of its first upload at or after record
// dies. With dies 0 the device runs to the end.
func (r *denseRun) life(ctx context.Context, id string, slow time.Duration, dies uint64) error {
	store, err := client.OpenStore(filepath.Join(r.dir, id))
	if err != nil {
		return err
	}
	defer store.Close()
	nc, _, err := r.broker.Connect(id, client.ConnectOptions(id)...)
	if err != nil {
		return err
	}
	defer nc.Close()
	loss := bowl.Of(int(id[len(id)-1]))
	cfg := client.Config{
		Bus: &watchedBus{bus.NATS(nc), id, r}, Run: r.plan.Run, ID: id, Store: store,
		RequestTimeout: time.Second, RetryMax: 2 * time.Second,
		Objective: objective.Func(int(r.plan.Dim),
			func(ctx context.Context, x []float32, b objective.Batch) (float64, error) {
				if slow > 0 {
					select {
					case <-time.After(slow):
					case <-ctx.Done():
						return 0, ctx.Err()
					}
				}
				return loss(ctx, x, b)
			}),
		Recorder: client.RecorderFunc(func(p client.Progress) error {
			if dies > 0 && p.State == client.Working && p.Vector >= dies && p.Received > 0 {
				return errKilled
			}
			return nil
		}),
	}
	if id == "w" {
		cfg.Objective, cfg.Passive = nil, &client.Passive{SnapshotEvery: 6}
	}
	c, err := client.New(cfg)
	if err != nil {
		return err
	}
	r.mu.Lock()
	r.clients[id] = c
	r.mu.Unlock()
	return c.Run(ctx)
}

// until waits for a piece in the middle of a vector for the given record or a later record.
func (r *denseRun) until(ctx context.Context, record uint64) {
	r.t.Helper()
	for {
		select {
		case n := <-r.middle:
			if n >= record {
				return
			}
		case <-ctx.Done():
			r.t.Fatalf("no upload to record %d; the last was to %d", record, r.last)
		}
	}
}

// agree checks that all devices hold the state of the log.
func (r *denseRun) agree() {
	r.t.Helper()
	log, err := filelog.Open(filepath.Join(r.dir, "log"))
	if err != nil {
		r.t.Fatal(err)
	}
	defer log.Close()
	w := replica.New(replica.Config{Run: r.plan.Run})
	replay(r.t, w, log)
	if w.Rounds() != r.plan.Rounds || w.Ended() == nil {
		r.t.Errorf("the log ends in round %d of %d", w.Rounds(), r.plan.Rounds)
	}
	for id, c := range r.clients {
		if n, digest := c.Digest(); n != w.N() || digest != w.Digest() {
			r.t.Errorf("%s: digest %x after record %d, want the log's %x after %d",
				id, digest[:8], n, w.Digest(), w.N())
		}
	}
}

// replay applies a log to a replica, and gives the replica the vectors that it lacks.
func replay(t *testing.T, w *replica.Replica, log runlog.Log) {
	t.Helper()
	epochs := []uint64{0}
	err := log.Read(context.Background(), w.N()+1, func(n uint64, record []byte) bool {
		r, err := wire.DecodeRecord(record)
		if err == nil {
			err = w.Apply(record)
		}
		epochs = append(epochs, r.Epoch)
		if err != nil {
			t.Errorf("log, record %d: %v", n, err)
		}
		return err == nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range w.Missing() {
		name := runlog.ObjectName{N: m.N, Epoch: epochs[m.N], Digest: m.Digest}
		data, err := log.(runlog.Objects).Object(context.Background(), name)
		if err == nil {
			err = w.Supply(m.Digest, data)
		}
		if err != nil {
			t.Errorf("vector of record %d: %v", m.N, err)
		}
	}
}

// TestDense runs two phases of vectors over a real broker. Not every device takes part in each
// record. One device is slow. The test kills another device in the middle of uploads, and restarts
// the coordinator in the middle of uploads. One device joins after 100 records (a quarter of that
// under the race detector); the log keeps the vectors of two. All devices, and a passive replica,
// end with the bits of the log. No device sends two vectors for a record.
func TestDense(t *testing.T) {
	for _, method := range []string{"fedzo-dense", "fzoos"} {
		t.Run(method, func(t *testing.T) {
			b, err := broker.Run(broker.Config{})
			if err != nil {
				t.Fatal(err)
			}
			defer b.Shutdown()
			r := &denseRun{
				t: t, plan: densePlan(t, method), dir: t.TempDir(), broker: b,
				clients: map[string]*client.Client{},
				sent:    map[string][wire.ObjectLen]byte{}, middle: make(chan uint64, 1000),
			}
			ctx, cancel := context.WithTimeout(t.Context(), patience)
			defer r.all.Wait()
			defer cancel()
			share := 2 * r.plan.Rounds / 12 // of the records
			stop := r.lead(r.plan)
			r.device(ctx, "w", 0)
			r.device(ctx, "d0", 0, share, 4*share, 9*share)
			r.device(ctx, "d1", 0)
			r.device(ctx, "d2", 0)
			r.device(ctx, "d3", 5*time.Millisecond)
			for _, n := range []uint64{2 * share, 6 * share} {
				r.until(ctx, n)
				stop()
				stop = r.lead(nil)
			}
			r.until(ctx, 10*share)
			r.device(ctx, "d4", 0)
			r.all.Wait()
			if c := stop(); c.WrongDigest+c.WrongCount+c.NonFinite+c.Malformed > 0 {
				t.Errorf("the coordinator dropped vectors: %+v", c)
			}
			if r.agree(); r.resumed < 3 {
				t.Errorf("%d vectors were resumed: too few to show anything", r.resumed)
			}
		})
	}
}
