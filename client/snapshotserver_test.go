package client_test

import (
	"bytes"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// ask makes a snapshot request.
func (h *host) ask(r wire.SnapshotRequest) wire.SnapshotReply {
	h.t.Helper()
	b, err := h.bus.Request(h.t.Context(), subjects.Snapshot(runName, "any"), r.Append(nil))
	if err != nil {
		h.t.Fatal(err)
	}
	reply, err := wire.DecodeSnapshotReply(b)
	if err != nil {
		h.t.Fatal(err)
	}
	return reply
}

// download downloads a whole snapshot, and loads it.
func (h *host) download(n uint64, piece uint64) *replica.Replica {
	h.t.Helper()
	var file bytes.Buffer
	for {
		r := h.ask(wire.SnapshotRequest{N: n, Offset: uint64(file.Len()), MaxBytes: piece})
		if r.N != n || r.Offset != uint64(file.Len()) {
			h.t.Fatalf("piece of record %d at %d, want %d at %d", r.N, r.Offset, n, file.Len())
		}
		if file.Write(r.Data); len(r.Data) == 0 {
			got, _, err := replica.Load(replica.Config{Run: runName}, &file, int64(r.Size))
			if err != nil {
				h.t.Fatal(err)
			}
			return got
		}
	}
}

// A passive replica writes snapshots when they are due, sends them piece by piece to several
// devices at once, and replaces them.
func TestSnapshots(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const dim = 20_000 // two pieces of a frame
		p := testPlan(dim)
		p.Distribution, p.Perturbations = plan.Rademacher, 1
		h, store := newHost(t, p), newStore(t)
		for range 35 {
			h.commit()
		}
		d := h.passive("w", store, 8)
		h.agrees(d, h.last())
		if saved := store.took(); count(saved, "snapshot") != 1 {
			t.Errorf("saved %v within a catch-up, want the last snapshot only", saved)
		}
		what := h.ask(wire.SnapshotRequest{})
		if what.N != 32 || what.Tip != wire.HashRecord(h.records[31]).Tip() ||
			len(what.Data) != 0 || what.Size < 4*dim {
			t.Fatalf("offers %d bytes of record %d, want all of 32", what.Size, what.N)
		}
		var askers sync.WaitGroup
		for _, piece := range []uint64{1 << 20, 33_333, 10_001} {
			askers.Go(func() {
				if got, want := h.download(32, piece).Digest(),
					h.witness(32).Digest(); got != want {
					t.Errorf("pieces of %d: digest %x, want %x", piece, got, want)
				}
			})
		}
		askers.Wait()
		for _, r := range []wire.SnapshotRequest{{N: 24, MaxBytes: 9}, {N: 33}} {
			if got := h.ask(r); got.N != 0 || len(got.Data) > 0 || got.Size != 0 {
				t.Errorf("asked for record %d: got %d", r.N, got.N)
			}
		}
		if got := h.ask(wire.SnapshotRequest{N: 32, Offset: 1 << 62, MaxBytes: 9}); got.N != 32 ||
			len(got.Data) > 0 {
			t.Errorf("beyond the end: got %d bytes", len(got.Data))
		}
		// A device downloads the snapshot, so the replica skips the next one.
		h.follow(7)
		if got := h.ask(wire.SnapshotRequest{}); got.N != 32 {
			t.Errorf("offers record %d while 32 is downloaded", got.N)
		}
		h.follow(8)
		if got := h.ask(wire.SnapshotRequest{}); got.N != 48 {
			t.Errorf("offers record %d, want 48: not two in a row are left out", got.N)
		}
		h.follow(3)
		// The run rolls back to a record before the snapshot.
		h.append(wire.Record{Kind: wire.KindRollback, To: 40})
		h.announce()
		if got := h.ask(wire.SnapshotRequest{}); got.N != 0 {
			t.Errorf("offers record %d, which was undone, want none", got.N)
		}
		h.follow(1)
		if got := h.ask(wire.SnapshotRequest{}); got.N != 56 {
			t.Errorf("offers record %d, want 56", got.N)
		}
		// Another process serves the snapshot again.
		d.stop()
		if _, err := h.bus.Request(t.Context(), subjects.Snapshot(runName, "any"),
			nil); !errors.Is(err, bus.ErrNoResponders) {
			t.Errorf("asked after Run: %v, want %v", err, bus.ErrNoResponders)
		}
		d = h.passive("w", store, 8)
		if got := h.download(56, 1<<20).Digest(); got != h.witness(56).Digest() {
			t.Errorf("digest %x after a restart", got)
		}
		h.follow(2)
		h.end()
		h.announce(func(a *wire.Announcement) { a.State = wire.Ended })
		if err := d.result(); err != nil {
			t.Error(err)
		}
		r, _, err := replica.Load(replica.Config{Run: runName},
			bytes.NewReader(store.get("snapshot")), int64(len(store.get("snapshot"))))
		if err != nil || r.N() != h.last() || r.Ended() == nil {
			t.Errorf("the last snapshot: got %v, want the final state", err)
		}
	})
}

// A replica refuses impossible requests, and requests with a forbidden reply subject. A replica
// sets an unusable snapshot aside.
func TestSnapshotRequestsRefused(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h, store := newHost(t, testPlan(small)), newStore(t)
		store.put("snapshot", []byte("garbage"))
		d := h.passive("w", store, 4)
		if !store.isAside("snapshot") {
			t.Error("garbage was not set aside")
		}
		h.follow(4)
		var heard []string
		h.subscribe("zo.>", func(m bus.Message) { heard = append(heard, m.Subject) })
		subject := subjects.Snapshot(runName, "x")
		h.publish(subject, (&wire.SnapshotRequest{}).Append(nil)) // no reply subject
		h.publish(subject, []byte{1, 2})
		h.take()
		if len(heard) != 2 {
			t.Errorf("heard %v, want the requests only", heard)
		}
		h.follow(1)
		if p := d.now(); p.Refused != 2 {
			t.Errorf("%d frames refused, want 2", p.Refused)
		}
	})
}

// A replica reports once that it failed to write a snapshot, and still serves the previous one.
func TestSnapshotFails(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h, store := newHost(t, testPlan(small)), newStore(t)
		d := h.passive("w", store, 4)
		h.follow(3)
		full := errors.New("no space left on device")
		store.fails(full, "snapshot")
		d.progress()
		h.follow(8)
		reports := slices.DeleteFunc(d.progress(),
			func(p client.Progress) bool { return !errors.Is(p.Err, full) })
		if len(reports) != 1 || !errors.Is(reports[0].Err, client.ErrStore) {
			t.Errorf("reported %+v, want once that the disk is full", reports)
		}
		if got := h.ask(wire.SnapshotRequest{}); got.N != 4 {
			t.Errorf("offers record %d, want 4", got.N)
		}
		store.fails(nil)
		h.follow(4)
		if got := h.ask(wire.SnapshotRequest{}); got.N != 16 {
			t.Errorf("offers record %d, want 16", got.N)
		}
	})
}
