package reference

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/coordinator"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// A run is the result of a plan in production.
type run struct {
	plan     *plan.Plan
	records  [][]byte
	slots    []uint32 // of each client
	digests  [][32]byte
	compared int          // rounds
	doubts   map[int]bool // elements that may differ: see doubt
	origin   []float64    // coordinates at which parameters are 0

	differentiates bool // the clients give gradients

	objects map[[wire.ObjectLen]byte][]byte // with transport=dense

	mu      sync.Mutex          // guards queries
	queries map[query][]queried // with a surrogate
}

// A query identifies where a client's loss was evaluated; queried is a loss that it
// returned.
type (
	query struct {
		client int
		at     At
	}
	queried struct {
		x []float32
		y float64
	}
)

// device is a client's objective.
type device struct {
	objective.Flat
	index int
	plan  *plan.Plan
}

// minibatch names a minibatch, or all data in the first phase of ZO-SVRG.
func (d device) minibatch(b objective.Batch) At {
	if d.plan.Control == plan.SVRG && b.N%2 == 0 { // record 1 is the plan
		return At{}
	}
	return At{b.N, b.Step}
}

func (d device) Samples() int { return int(samples(d.index)) }

// A differentiable is a device that has the gradient of its loss.
type differentiable struct{ device }

// Gradient implements [objective.Differentiable].
func (d differentiable) Gradient(ctx context.Context, x []float32, b objective.Batch,
	g []float32) (float64, error) {
	for i, v := range slope(d.index, d.minibatch(b), widen(x)) {
		g[i] = float32(v)
	}
	return d.Loss(ctx, x, b)
}

// objective returns the objective of client i. The objective fails, so that the round misses its
// quorum, if the size of the minibatch is neither the plan's nor, for a client with fewer
// samples, all of the client's samples.
func (r *run) objective(i int) device {
	p := r.plan
	d := device{index: i, plan: p}
	d.Flat = objective.Func(int(p.Dim),
		func(_ context.Context, x []float32, b objective.Batch) (float64, error) {
			at, size := d.minibatch(b), int(min(p.Batch, samples(i)))
			if at == (At{}) {
				size = 0
			}
			if b.Size != size || b.Seed != plan.BatchSeed(p.Run, id(i), b.N, uint32(b.Step)) {
				return 0, fmt.Errorf("minibatch %+v", b)
			}
			y := loss(i, at, widen(x))
			if p.Estimator == plan.Surrogate {
				r.mu.Lock()
				defer r.mu.Unlock()
				r.queries[query{i, at}] = append(r.queries[query{i, at}], queried{slices.Clone(x), y})
			}
			return y, nil
		})
	return d
}

func id(i int) string { return fmt.Sprint("c", i) }

// produce runs a plan over the in-memory bus. After the end another device joins; its
// digest is the last of run.digests.
func produce(t *testing.T, p *plan.Plan) *run {
	t.Helper()
	return produceBy(t, p, false)
}

// produceBy is produce with clients that give gradients if differentiate is set, or otherwise
// losses.
func produceBy(t *testing.T, p *plan.Plan, differentiate bool) *run {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	memory, log := bus.NewMemory(), &runlog.Memory{}
	defer memory.Close()
	enroll(t, log) // otherwise slots would depend on timing, and each run would differ
	lead, err := coordinator.New(ctx, coordinator.Config{Bus: memory, Plan: p, Log: log, Linger: -1})
	if err != nil {
		t.Fatalf("%v\nplan: %+v", err, p)
	}
	leadCtx, stop := context.WithCancelCause(ctx)
	var leads sync.WaitGroup
	leads.Go(func() {
		if err := lead.Run(leadCtx); err != nil && !errors.Is(err, errDone) {
			t.Errorf("coordinator: %v", err)
		}
	})
	out := &run{
		plan: p, digests: make([][32]byte, clients+1),
		objects: map[[wire.ObjectLen]byte][]byte{}, queries: map[query][]queried{},
		differentiates: differentiate,
	}
	var devices sync.WaitGroup
	for i := range clients {
		devices.Go(func() { out.digests[i] = out.join(t, ctx, memory, i) })
	}
	devices.Wait()
	out.digests[clients] = out.join(t, ctx, memory, clients)
	stop(errDone)
	leads.Wait()
	out.read(t, log)
	return out
}

var errDone = errors.New("done")

// enroll gives client i slot i.
func enroll(t *testing.T, log *runlog.Memory) {
	t.Helper()
	var ids []string
	for i := range clients {
		ids = append(ids, id(i))
	}
	if err := log.AddMembers(t.Context(), ids); err != nil {
		t.Fatal(err)
	}
}

// join runs a client to the end and returns the digest of its state.
func (r *run) join(t *testing.T, ctx context.Context, b bus.Bus, i int) [32]byte {
	p := r.plan
	cfg := client.Config{Bus: b, Run: p.Run, ID: id(i), RetryMax: time.Second,
		Objective: r.objective(i)}
	if r.differentiates {
		cfg.Objective = differentiable{r.objective(i)}
	}
	if p.Private() {
		cfg.RunKey = secret
	}
	c, err := client.New(cfg)
	if err != nil {
		t.Errorf("client %d: %v", i, err)
		return [32]byte{}
	}
	if err := c.Run(ctx); err != nil {
		t.Errorf("client %d: %v\nplan: %+v", i, err, p)
	}
	_, digest := c.Digest()
	return digest
}

// read reads the records, the vectors that they name, and the roster of a log.
func (r *run) read(t *testing.T, log *runlog.Memory) {
	t.Helper()
	err := log.Read(t.Context(), 1, func(_ uint64, record []byte) bool {
		r.records = append(r.records, record)
		r.take(t, log, record)
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	members, err := log.Members()
	if err != nil {
		t.Fatal(err)
	}
	r.slots = make([]uint32, clients+1)
	for slot, name := range members {
		i, err := strconv.Atoi(name[1:])
		if err != nil {
			t.Fatal(err)
		}
		r.slots[i] = uint32(slot)
	}
}

// take reads the vector that a record names, if any.
func (r *run) take(t *testing.T, log *runlog.Memory, encoded []byte) {
	t.Helper()
	record, err := wire.DecodeRecord(encoded)
	if err != nil {
		t.Fatal(err)
	}
	if record.Kind != wire.KindRound || len(record.Round.Object) == 0 {
		return
	}
	name := runlog.ObjectName{N: record.N, Epoch: record.Epoch,
		Digest: [wire.ObjectLen]byte(record.Round.Object)}
	if r.objects[name.Digest], err = log.Object(t.Context(), name); err != nil {
		t.Fatal(err)
	}
}

// complete supplies a state with the vectors that it lacks.
func (r *run) complete(t *testing.T, at *replica.Replica) {
	t.Helper()
	for _, o := range at.Missing() {
		if err := at.Supply(o.Digest, r.objects[o.Digest]); err != nil {
			t.Fatalf("vector of record %d: %v\nplan: %+v", o.N, err, r.plan)
		}
	}
}
