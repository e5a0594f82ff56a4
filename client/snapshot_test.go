package client_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/wire"
)

// A device beyond its horizon takes the snapshot and replays the records after it, also over
// rollbacks, and ends with the same bits. During the download the app can read the previous state.
func TestSnapshotCatchUp(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const dim = 20_000
		p := testPlan(dim)
		p.Distribution, p.Perturbations = plan.Rademacher, 1
		p.Rule, p.Beta, p.DigestEvery = plan.TorchMomentum, 0.5, 8
		h, store := newHost(t, p), newStore(t)
		d := h.device("d0", bowlLoss(dim, 0), horizon, with(store))
		h.follow(4)
		for range 30 {
			h.commit()
		}
		h.append(wire.Record{Kind: wire.KindRollback, To: 20})
		var c plan.Change
		if err := planfile.SetChange(&c, "weight_decay", "0.5"); err != nil {
			t.Fatal(err)
		}
		h.append(wire.Record{Kind: wire.KindChange, Change: &c})
		for range 10 {
			h.commit()
		}
		l := h.library(42)
		l.hold(h.witness(42), replica.History{Rollbacks: []replica.Rollback{{N: 36, To: 20}}})
		l.edit = func(request wire.SnapshotRequest, _ *wire.SnapshotReply) bool {
			if n, err := d.Params(make([]float32, dim)); n != 5 || err != nil {
				t.Errorf("Params while it downloads: record %d, %v, want 5", n, err)
			}
			return true
		}
		d.progress()
		h.asked()
		h.announce()
		h.one(wire.Contribution)
		h.agrees(d, h.last())
		if asked := h.asked(); !slices.Equal(asked, []uint64{42, 43}) {
			t.Errorf("asked for records %v, want 42 and from 43 on", asked)
		}
		reports := d.progress()
		at := uint64(0)
		for _, p := range reports {
			if p.Snapshot > 0 {
				if p.Snapshot != 42 || p.Size != uint64(len(l.file)) || p.Received < at ||
					p.State != client.CatchingUp {
					t.Errorf("progress %+v after %d bytes", p, at)
				}
				at = p.Received
			}
		}
		want := (len(l.file) + wire.MaxFrame - 1) / (wire.MaxFrame - 128)
		if at != uint64(len(l.file)) || l.pieces() < want {
			t.Errorf("got reports up to byte %d of %d, and %d pieces", at, len(l.file), l.pieces())
		}
		if d.Unproven() != 42 {
			t.Errorf("unproven %d, want 42", d.Unproven())
		}
		// The run rolls back to a record before the snapshot, and goes on.
		h.asked()
		h.append(wire.Record{Kind: wire.KindRollback, To: 38})
		l.edit = func(_ wire.SnapshotRequest, r *wire.SnapshotReply) bool { r.N = 0; return true }
		h.announce()
		h.agrees(d, h.last())
		if asked := h.asked(); !slices.Equal(asked, []uint64{2}) {
			t.Errorf("asked for records %v, want one pass from 2 on", asked)
		}
		h.take()
		h.follow(6)
		h.agrees(d, h.last())
	})
}

// A reference for a state after the snapshot proves the snapshot.
func TestSnapshotIsProven(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h, store := newHost(t, digestPlan()), newStore(t)
		for range 40 {
			h.commit()
		}
		h.library(32)
		d := h.device("d0", bowlLoss(small, 0), horizon, with(store))
		h.announce()
		h.agrees(d, 41)
		h.announce(h.refer(32)) // the reference says nothing about the rest of the plan
		h.take()
		if d.Unproven() != 32 {
			t.Errorf("unproven %d, want 32", d.Unproven())
		}
		d.stop()
		d = h.device("d0", bowlLoss(small, 0), horizon, with(store))
		if d.Unproven() != 32 {
			t.Errorf("unproven %d after a restart, want 32", d.Unproven())
		}
		h.follow(4)
		h.announce(h.refer(44))
		h.take()
		d.stop()
		if d.Unproven() != 0 {
			t.Errorf("unproven %d, want 0", d.Unproven())
		}
		d = h.device("d0", bowlLoss(small, 0), horizon, with(store))
		if d.Unproven() != 0 {
			t.Errorf("unproven %d after a restart, want 0", d.Unproven())
		}
	})
}

// An interrupted download resumes.
func TestSnapshotResumes(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const dim = 90_000 // 6 pieces
		p := testPlan(dim)
		p.DigestEvery, p.Distribution, p.Perturbations = 8, plan.Rademacher, 1
		h := newHost(t, p)
		for range 40 {
			h.commit()
		}
		l := h.library(32)
		from, deaf := map[uint64]int{}, true
		l.edit = func(q wire.SnapshotRequest, _ *wire.SnapshotReply) bool {
			if q.MaxBytes > 0 {
				from[q.Offset]++
			}
			return !deaf || q.Offset < 3*(wire.MaxFrame-128)
		}
		h.answers(func(m bus.Message) bool { // the host does not answer requests for records, either
			request, err := wire.DecodeCatchUpRequest(m.Data)
			return err == nil && deaf && request.From == 2
		})
		d := h.device("d0", null(dim), horizon)
		h.announce()
		pass(2 * time.Minute)
		if p := d.now(); p.N != 1 || p.Err == nil {
			t.Errorf("progress %+v, want record 1 and an error", p)
		}
		deaf = false
		pass(time.Minute)
		h.announce()
		pass(time.Minute)
		h.agrees(d, h.last())
		for offset, n := range from {
			if n > 1 && offset != 3*(wire.MaxFrame-128) {
				t.Errorf("asked %d times for the piece at %d", n, offset)
			}
		}
		if len(from) != 6 {
			t.Errorf("%d pieces, want 6", len(from))
		}
	})
}

// The device chooses by bytes and seconds. With long records and a small model, a device far behind
// takes the snapshot. A device that is a little behind does not ask for a snapshot.
func TestSnapshotByCost(t *testing.T) {
	for _, tt := range []struct {
		records int
		digests uint32
		asks    bool
		takes   bool
	}{
		{20, 8, false, false},
		{100, 8, true, true},
		{100, 0, false, false}, // no reference could prove a snapshot
	} {
		bubble(t, func(t *testing.T) {
			p := testPlan(small)
			p.Perturbations, p.DigestEvery, p.Distribution = 2000, tt.digests,
				plan.Rademacher // 8 kB a record
			h := newHost(t, p)
			for range tt.records {
				h.commit()
			}
			h.atOnce = 7
			l := h.library(h.last() - 5)
			d := h.device("d0", bowlLoss(small, 0))
			h.asked()
			h.announce()
			pass(time.Minute)
			h.agrees(d, h.last())
			if (len(l.asked) > 0) != tt.asks || (d.Unproven() > 0) != tt.takes {
				t.Errorf("%d records behind: asked %d times, took %v, want %v, %v",
					tt.records, len(l.asked), d.Unproven() > 0, tt.asks, tt.takes)
			}
		})
	}
}

// If nobody answers its request for a snapshot, the device replays.
func TestNoSnapshots(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHost(t, digestPlan())
		for range 60 {
			h.commit()
		}
		d := h.device("d0", bowlLoss(small, 0), horizon)
		h.announce()
		h.agrees(d, h.last())
		h.one(wire.Contribution)
		for _, p := range d.progress() {
			if p.Err != nil && !errors.Is(p.Err, bus.ErrNoResponders) {
				t.Errorf("progress %+v", p)
			}
		}
	})
}

// A device takes the snapshot of a passive replica.
func TestSnapshotOfAPassiveReplica(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := digestPlan()
		h := newHost(t, p)
		h.passive("w", newStore(t), 16)
		h.follow(20)
		h.append(wire.Record{Kind: wire.KindRollback, To: 9})
		h.follow(30)
		d := h.device("d0", bowlLoss(small, 0), horizon)
		h.asked()
		h.announce()
		h.agrees(d, h.last())
		if asked := h.asked(); len(asked) == 0 || asked[0] != 48 {
			t.Errorf("asked for %v, want 48 first", asked)
		}
	})
}

// A device that asks a passive replica for its snapshot again and again draws its share, and what
// it may draw later. Another device draws as much.
func TestShareOfSnapshots(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const dim, share, rate = 90_000, 16 << 20, 64 << 10
		h := newHost(t, testPlan(dim))
		for h.last() < 32 {
			h.commit()
		}
		h.passive("w", newStore(t), 16)
		h.announce()
		pass(time.Minute)
		request := (&wire.SnapshotRequest{MaxBytes: wire.SnapshotPiece}).Append(nil)
		for _, id := range []string{"d0", "d1"} {
			draws := func(want int) {
				t.Helper()
				got := 0
				for got < 2*want {
					ctx, cancel := context.WithTimeout(t.Context(), time.Second)
					answer, err := h.bus.Request(ctx, subjects.Snapshot(runName, id), request)
					cancel()
					if err != nil {
						break
					}
					got += len(answer)
				}
				if got < want-wire.MaxFrame || got > want+2*wire.MaxFrame {
					t.Errorf("%s draws %d bytes, want %d", id, got, want)
				}
			}
			draws(share)
			pass(time.Minute)
			draws(60 * rate)
		}
	})
}

// An abandoned download takes no memory once the device has the records.
func TestAbandonedDownload(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const dim = 90_000
		p := testPlan(dim)
		p.DigestEvery, p.Distribution, p.Perturbations = 8, plan.Rademacher, 1
		h := newHost(t, p)
		for range 40 {
			h.commit()
		}
		l := h.library(32)
		l.edit = func(q wire.SnapshotRequest, _ *wire.SnapshotReply) bool {
			return q.Offset < 3*(wire.MaxFrame-128)
		}
		d := h.device("d0", null(dim), horizon)
		h.announce()
		pass(2 * time.Minute)
		for range 50 {
			h.announce()
			pass(time.Minute)
			h.commit()
		}
		h.agrees(d, h.last()-1)
		if d.Downloading() {
			t.Error("50 rounds after the catch-up: got a partial download, want none")
		}
	})
}
