package source

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/coordinator"
	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/coordinator/zofl/broker"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/preset"
	"github.com/zofl/zofl/wire"
)

// A chain makes the records of a run.
type chain struct {
	t       *testing.T
	prev    wire.Hash
	records [][]byte
	rounds  uint64
}

func newChain(t *testing.T) *chain {
	t.Helper()
	p, err := preset.Unbound("decomfl", "kitchen", 5)
	if err != nil {
		t.Fatal(err)
	}
	p.RunKey, p.Perturbations = make(plan.Bytes, 32), 1
	c := &chain{t: t, prev: wire.Genesis("kitchen")}
	c.add(wire.Record{Kind: wire.KindPlan, Plan: p})
	return c
}

func (c *chain) add(r wire.Record) {
	r.N, r.Prev, r.Epoch = uint64(len(c.records))+1, c.prev, 1
	b := r.Append(nil)
	c.prev = wire.HashRecord(b)
	c.records = append(c.records, b)
}

// train adds rounds. Any two of them have different scalars.
func (c *chain) train(n int) {
	for range n {
		c.rounds++
		c.add(wire.Record{Kind: wire.KindRound,
			Round: &wire.Round{Round: c.rounds, StepSize: 0.1, Perturbations: 1, Contributors: 1,
				Terms: []wire.Term{{Scalars: wire.AppendScalars(nil, float32(len(c.records)))}}}})
	}
}

func (c *chain) rollback(to uint64) { c.add(wire.Record{Kind: wire.KindRollback, To: to}) }

// log returns a log with the records.
func (c *chain) log() *runlog.Memory {
	c.t.Helper()
	log := &runlog.Memory{}
	for i, r := range c.records {
		if err := log.Append(c.t.Context(), uint64(i)+1, r); err != nil {
			c.t.Fatal(err)
		}
	}
	return log
}

func TestReplayFollowsRollbacks(t *testing.T) {
	c := newChain(t)
	c.train(6)    // 2..7
	c.rollback(4) // 8
	c.train(2)    // 9, 10
	c.rollback(9) // 11
	c.rollback(3) // 12
	c.train(1)    // 13
	src := Stored(c.log(), nil)
	defer src.Close()
	digest := func(at uint64) [32]byte {
		t.Helper()
		seen := uint64(0)
		r, err := Replay(t.Context(), src, Config{At: at, Every: 1,
			Each: func(n uint64, state *replica.Replica) error {
				if seen++; n != seen || state != nil && state.N() != n {
					t.Errorf("record %d: got %d", seen, n)
				}
				return nil
			}})
		if err != nil {
			t.Fatal(err)
		}
		if r.N() != at || seen != at {
			t.Errorf("replayed to %d, read %d, want %d", r.N(), seen, at)
		}
		return r.Digest()
	}
	for _, same := range [][2]uint64{{8, 4}, {11, 9}, {12, 3}} {
		if digest(same[0]) != digest(same[1]) {
			t.Errorf("the state after record %d is not that after record %d", same[0], same[1])
		}
	}
	for _, other := range [][2]uint64{{9, 8}, {13, 12}, {5, 4}, {13, 4}} {
		if digest(other[0]) == digest(other[1]) {
			t.Errorf("the states after records %d and %d are the same", other[0], other[1])
		}
	}
	if r, err := Replay(t.Context(), src, Config{}); err != nil || r.N() != 13 {
		t.Errorf("the last record: %v, %v", r, err)
	}
	for at := uint64(1); at <= 13; at++ { // in batches
		if r, err := Replay(t.Context(), src, Config{At: at}); err != nil || r.N() != at ||
			r.Digest() != digest(at) {
			t.Errorf("record %d: %v, or another state than one by one", at, err)
		}
	}
}

// A source may overwrite a record after f has returned. The log has more records than Replay
// applies together.
func TestReplayInBatches(t *testing.T) {
	c := newChain(t)
	c.train(3*batchMost + 5)
	want, err := Replay(t.Context(), Stored(c.log(), nil),
		Config{Every: 1, Each: func(uint64, *replica.Replica) error { return nil }})
	if err != nil {
		t.Fatal(err)
	}
	got, err := Replay(t.Context(), reused{Stored(c.log(), nil)}, Config{})
	if err != nil || got.N() != want.N() || got.Digest() != want.Digest() {
		t.Errorf("%v, or another state than one by one", err)
	}
}

// A reused source has one buffer for all records.
type reused struct{ Source }

func (s reused) Read(ctx context.Context, from uint64, f func(n uint64, record []byte) bool) error {
	var buffer []byte
	return s.Source.Read(ctx, from, func(n uint64, record []byte) bool {
		buffer = append(buffer[:0], record...)
		defer clear(buffer)
		return f(n, buffer)
	})
}

func TestReplayRefuses(t *testing.T) {
	replay := func(c *chain, at uint64) error {
		_, err := Replay(t.Context(), Stored(c.log(), nil), Config{At: at})
		return err
	}
	if err := replay(&chain{t: t}, 0); !errors.Is(err, ErrEmpty) {
		t.Errorf("an empty log: %v, want %v", err, ErrEmpty)
	}
	c := newChain(t)
	c.train(3)
	if err := replay(c, 9); err == nil || !strings.Contains(err.Error(), "9") ||
		!strings.Contains(err.Error(), "4") {
		t.Errorf("a record that is not there: %v, want an error that names it and the last", err)
	}
	c.prev = wire.Hash{1}
	c.train(1)
	if err := replay(c, 0); !errors.Is(err, runlog.ErrCorrupt) {
		t.Errorf("a broken chain: %v, want %v", err, runlog.ErrCorrupt)
	}
	c = newChain(t)
	c.train(1)
	c.records[1] = c.records[1][:20]
	if err := replay(c, 0); !errors.Is(err, runlog.ErrCorrupt) ||
		!errors.Is(err, wire.ErrTruncated) {
		t.Errorf("a cut record: %v, want %v", err, runlog.ErrCorrupt)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if _, err := Replay(stopped, Stored(newChain(t).log(), nil), Config{}); !errors.Is(err,
		context.Canceled) {
		t.Errorf("a context that is done: %v", err)
	}
	wanted := errors.New("wanted")
	_, err := Replay(t.Context(), Stored(newChain(t).log(), nil),
		Config{Every: 1, Each: func(uint64, *replica.Replica) error { return wanted }})
	if !errors.Is(err, wanted) {
		t.Errorf("each: %v, want %v", err, wanted)
	}
}

// TestLive reads the records of a running coordinator.
func TestLive(t *testing.T) {
	b, err := broker.Run(broker.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Shutdown)
	connect := func() Source {
		nc, _, err := b.Connect("zofl")
		if err != nil {
			t.Fatal(err)
		}
		return Live(nc, "kitchen", "zofl", nil)
	}
	src := connect()
	if _, err := Replay(t.Context(), src, Config{}); err == nil ||
		!strings.Contains(err.Error(), "no responders") {
		t.Errorf("without a coordinator: %v", err)
	}
	if err := src.Close(); err != nil {
		t.Error(err)
	}
	c := newChain(t)
	c.train(2000) // several replies
	nc, _, err := b.Connect("coordinator")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	log := c.log()
	if err := log.AddMembers(t.Context(), []string{"a"}); err != nil {
		t.Fatal(err)
	}
	lead, err := coordinator.New(t.Context(), coordinator.Config{Conn: nc, Log: log})
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- lead.Run(ctx) }()
	defer func() { stop(); <-done }()
	if err := nc.Flush(); err != nil {
		t.Fatal(err)
	}
	want, err := Replay(t.Context(), Stored(log, nil), Config{})
	if err != nil {
		t.Fatal(err)
	}
	src = connect()
	defer src.Close()
	var r *replica.Replica
	for r == nil { // until the coordinator listens
		if r, err = Replay(t.Context(), src, Config{}); err != nil &&
			!strings.Contains(err.Error(), "no responders") {
			t.Fatal(err)
		}
	}
	if r.N() != want.N() || r.Digest() != want.Digest() {
		t.Errorf("replayed to record %d, want %d, or to other bits", r.N(), want.N())
	}
}
