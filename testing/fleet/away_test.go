package fleet

import (
	"context"
	"flag"
	"fmt"
	"path/filepath"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/coordinator"
	"github.com/zofl/zofl/coordinator/report"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/coordinator/zofl/broker"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/testing/bowl"
	"github.com/zofl/zofl/wire"
)

var (
	awayDim   = flag.Int("away.dim", 200, "parameters of the model in the TestAway tests")
	awayFleet = flag.Int("away.fleet", 200/slower,
		"devices that come back at once in TestAwayTogether")
	awayBehind = flag.Int("away.behind", 1000, "records that they are behind")
)

// An awayRun is a run with a plan in its log and no coordinator at first. The test appends rounds
// to the log while devices are away.
type awayRun struct {
	*lead
	p    *plan.Plan
	prev wire.Hash
	mem  *runlog.Memory
}

// newAway returns a run with a plan and a round in its log, and members.
func newAway(t *testing.T, members int) *awayRun {
	t.Helper()
	p := testPlan(t, "away", uint64(*awayDim), uint32(members)+1, 0)
	// one device more than the devices that will answer
	p.Quorum, p.Deadline, p.MaxAttempts = uint32(members)+1, 600_000, 1
	p.DigestEvery, p.Reannounce = 1000, 1000
	a := &awayRun{lead: &lead{t: t, events: make(chan report.Event, 100_000)}, p: p,
		prev: wire.Genesis("away"), mem: &runlog.Memory{}}
	a.append(wire.Record{Kind: wire.KindPlan, Plan: p})
	ids := []string{"nobody"}
	for i := range members {
		ids = append(ids, fmt.Sprintf("d%d", i))
	}
	if err := a.mem.AddMembers(t.Context(), ids); err != nil {
		t.Fatal(err)
	}
	a.train(1)
	var err error
	if a.broker, err = broker.Run(broker.Config{}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(a.broker.Shutdown)
	a.log = a.mem
	return a
}

func (a *awayRun) append(r wire.Record) {
	a.t.Helper()
	r.N, r.Prev, r.Epoch = a.mem.Last()+1, a.prev, 1
	b := r.Append(nil)
	if err := a.mem.Append(a.t.Context(), r.N, b); err != nil {
		a.t.Fatal(err)
	}
	a.prev = wire.HashRecord(b)
}

// train appends rounds as if devices had run them.
func (a *awayRun) train(rounds int) {
	a.t.Helper()
	g := make([]float32, a.p.Perturbations)
	for range rounds {
		n := a.mem.Last() + 1
		for i := range g {
			g[i] = float32(int(n*7+uint64(i)*13)%101-50) / 64
		}
		a.append(wire.Record{Kind: wire.KindRound, Round: &wire.Round{
			Round: n - 1, StepSize: 1e-4, Perturbations: a.p.Perturbations, Contributors: 1,
			Terms: []wire.Term{{Scalars: wire.AppendScalars(nil, g...)}}}})
	}
}

// serve runs a coordinator over the log until stop is called.
func (a *awayRun) serve() (stop func()) {
	a.t.Helper()
	c, err := coordinator.New(a.t.Context(),
		coordinator.Config{Conn: a.connect("coordinator"), Log: a.mem})
	if err != nil {
		a.t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	done := make(chan error, 1)
	go func() { done <- c.Run(ctx) }()
	return func() {
		cancel(errFinished)
		if err := <-done; err != errFinished && fmt.Sprint(err) != "coordinator: "+errFinished.Error() {
			a.t.Errorf("coordinator: %v", err)
		}
	}
}

// A homecoming is the cost of a device's return.
type homecoming struct {
	seconds  float64
	up, down int64
	n        uint64
	digest   [32]byte
}

// comeBack runs a device with a store until the device has the log's last record, and then stops
// the device.
func (a *awayRun) comeBack(id, store string, horizon uint64) homecoming {
	a.t.Helper()
	s, err := client.OpenStore(store)
	if err != nil {
		a.t.Error(err)
		return homecoming{}
	}
	defer s.Close()
	nc, traffic, err := a.broker.Connect(id, client.ConnectOptions(id)...)
	if err != nil {
		a.t.Error(err)
		return homecoming{}
	}
	defer nc.Close()
	began := time.Now()
	last, seconds := a.mem.Last(), 0.0
	ctx, cancel := context.WithTimeoutCause(context.Background(), patience, context.DeadlineExceeded)
	defer cancel()
	c, err := client.New(client.Config{
		Conn: nc, Run: "away", ID: id, Store: s, Horizon: horizon,
		Objective: objective.Func(*awayDim, bowl.Of(1)),
		Recorder: client.RecorderFunc(func(p client.Progress) error {
			if p.N == last {
				seconds = time.Since(began).Seconds()
				return errFinished
			}
			return nil
		}),
	})
	if err != nil {
		a.t.Error(err)
		return homecoming{}
	}
	if err := c.Run(ctx); seconds == 0 {
		a.t.Errorf("device %s never came back: %v", id, err)
	}
	h := homecoming{seconds: seconds, up: traffic.Up(), down: traffic.Down()}
	h.n, h.digest = c.Digest()
	return h
}

// TestAway checks that a device that was away for 1, 1,000 and 100,000 records (fewer under the
// race detector) reaches the same bits as a replay of the log.
func TestAway(t *testing.T) {
	a := newAway(t, 1)
	store := filepath.Join(t.TempDir(), "d0")
	stop := a.serve()
	a.comeBack("d0", store, 0) // the device leaves again
	stop()
	witness := a.witness("away")
	for _, behind := range []int{1, 1000, 100_000 / slower} {
		a.train(behind)
		stop := a.serve()
		before := heapAfterGC()
		quit, peak := make(chan struct{}), make(chan uint64, 1)
		go func() { peak <- watchHeap(quit) }()
		h := a.comeBack("d0", store, 0)
		close(quit)
		grown := int64(<-peak) - int64(before)
		stop()
		follow(t, witness, a.mem)
		if h.n != witness.N() || h.digest != witness.Digest() {
			t.Errorf("%d records behind: digest %x after record %d, want the log's %x after %d",
				behind, h.digest, h.n, witness.Digest(), witness.N())
		}
		t.Logf("%d records behind, d = %d: %.3f s, %.0f records/s, %d bytes up, %d down (%.1f "+
			"a record), heap +%d KiB",
			behind, *awayDim, h.seconds, float64(behind)/h.seconds, h.up, h.down,
			float64(h.down)/float64(behind), grown>>10)
	}
}

func heapAfterGC() uint64 {
	runtime.GC()
	return heap()
}

// follow applies to a replica the records of the log that the replica lacks.
func follow(t *testing.T, r *replica.Replica, log runlog.Log) {
	t.Helper()
	var failed error
	err := log.Read(t.Context(), r.N()+1, func(_ uint64, record []byte) bool {
		failed = r.Apply(record)
		return failed == nil
	})
	if err != nil || failed != nil {
		t.Fatal(err, failed)
	}
}

// TestAwayTogether checks that many devices can come back at the same time.
func TestAwayTogether(t *testing.T) {
	fleet, behind := *awayFleet, *awayBehind
	a := newAway(t, fleet)
	dir := t.TempDir()
	stop := a.serve()
	a.together(fleet, dir)
	stop()
	a.train(behind)
	stop = a.serve()
	defer stop()
	began := time.Now()
	back := a.together(fleet, dir)
	seconds := time.Since(began).Seconds()
	w := a.witness("away")
	down, slowest := int64(0), 0.0
	for i, h := range back {
		if h.n != w.N() || h.digest != w.Digest() {
			t.Errorf("device %d: digest %x after record %d, want the log's %x after %d",
				i, h.digest, h.n, w.Digest(), w.N())
		}
		down, slowest = down+h.down, max(slowest, h.seconds)
	}
	t.Logf("%d devices, %d records behind, d = %d: all back after %.2f s, the slowest took "+
		"%.2f s; %.0f records/s in all, %d bytes down a device",
		fleet, behind, *awayDim, seconds, slowest, float64(fleet*behind)/seconds, down/int64(fleet))
}

// together makes many devices come back at once.
func (a *awayRun) together(fleet int, dir string) []homecoming {
	back := make([]homecoming, fleet)
	var all sync.WaitGroup
	for i := range back {
		id := fmt.Sprintf("d%d", i)
		all.Go(func() { back[i] = a.comeBack(id, filepath.Join(dir, id), 0) })
	}
	all.Wait()
	return back
}
