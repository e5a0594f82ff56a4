package reference

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/coordinator"
	"github.com/zofl/zofl/wire"
)

// A run is what production made of a plan.
type run struct {
	plan    *wire.Plan
	records [][]byte
	slots   []uint32 // by client
	digests [][32]byte
	doubts  map[int]bool // elements that may differ: see doubt
}

// device is a client's objective.
type device struct {
	client.Objective
	index int
}

func (d device) Samples() int { return int(samples(d.index)) }

// objective is that of client i. A minibatch that is not the plan's is an error, so
// that no round has its quorum.
func objective(p *wire.Plan, i int) device {
	return device{client.Func(int(p.Dim), func(_ context.Context, x []float32, b client.Batch) (float64, error) {
		if b.Size != int(p.Batch) || b.Seed != wire.BatchSeed(p.Run, id(i), b.N, uint32(b.Step)) {
			return 0, fmt.Errorf("minibatch %+v", b)
		}
		return loss(i, At{b.N, b.Step}, widen(x)), nil
	}), i}
}

func id(i int) string { return fmt.Sprint("c", i) }

// produce runs a plan over the in-memory bus, and lets a device join when all is
// over, the last of run.digests.
func produce(t *testing.T, p *wire.Plan) *run {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	memory, log := bus.NewMemory(), &coordinator.MemoryLog{}
	defer memory.Close()
	enroll(t, log) // or slots would be given as they come, and a plan be another each time
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
	out := &run{plan: p, digests: make([][32]byte, clients+1)}
	var devices sync.WaitGroup
	for i := range clients {
		devices.Go(func() { out.digests[i] = follow(t, ctx, memory, p, i) })
	}
	devices.Wait()
	out.digests[clients] = follow(t, ctx, memory, p, clients)
	stop(errDone)
	leads.Wait()
	out.read(t, log)
	return out
}

var errDone = errors.New("done")

// enroll gives client i slot i.
func enroll(t *testing.T, log *coordinator.MemoryLog) {
	t.Helper()
	var ids []string
	for i := range clients {
		ids = append(ids, id(i))
	}
	if err := log.AddMembers(t.Context(), ids); err != nil {
		t.Fatal(err)
	}
}

// follow runs a client to the end and returns the digest of its state.
func follow(t *testing.T, ctx context.Context, b bus.Bus, p *wire.Plan, i int) [32]byte {
	cfg := client.Config{Bus: b, Run: p.Run, ID: id(i), RetryMax: time.Second, Objective: objective(p, i)}
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

// read takes the records and the roster of a log.
func (r *run) read(t *testing.T, log *coordinator.MemoryLog) {
	t.Helper()
	err := log.Read(t.Context(), 1, func(_ uint64, record []byte) bool {
		r.records = append(r.records, record)
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
