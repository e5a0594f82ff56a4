package client_test

import (
	"testing"
	"time"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// With every method, killed and stopped devices continue from their checkpoint, late devices
// replay, and passive replicas follow. All these devices follow rollbacks and a lost tail of the
// log. All have the log's bits and keep contributing.
func TestMethodsKeepTheirLog(t *testing.T) {
	eachMethod(t, 5000, func(t *testing.T, h *host) {
		store := newStore(t)
		often := func(c *client.Config) { c.CheckpointEvery = 3 }
		first, other := h.member(0, with(store), often), h.member(1)
		passive := h.passive("w", nil, 0, h.key)
		agree := func() {
			t.Helper()
			h.announce()
			pass(5 * time.Second)
			for _, d := range []*device{first, other, passive} {
				h.agrees(d, h.last())
			}
			h.take()
		}
		rounds := func(n int) {
			t.Helper()
			for range n {
				h.round()
			}
		}
		rounds(4)
		agree()
		first.stop()
		rounds(3) // and a phase is over, of some
		first = h.member(0, with(store), often)
		agree()
		rounds(4)
		store = first.killed(store)
		rounds(2)
		first = h.member(0, with(store), often)
		h.atOnce = 2
		agree()
		h.rollback(h.last() - 2)
		agree()
		rounds(2)
		h.rollback(6)
		agree()
		rounds(3)
		h.setBack(h.last()-3, 2)
		h.announce()
		pass(time.Minute) // devices that started over ask
		h.take()
		rounds(2)
		agree()
		late := h.member(2)
		rounds(3)
		agree()
		h.agrees(late, h.last())
	})
}

// With every method, the state of a snapshot is the log's, and a device continues from it with the
// log's bits. In a private run the snapshot is encrypted.
func TestMethodsBySnapshot(t *testing.T) {
	const records = 40
	eachMethod(t, 5000, func(t *testing.T, h *host) {
		h.plan.DigestEvery = 4 // of the log too: it is the same plan
		h.cut(0, 1)
		h.append(wire.Record{Kind: wire.KindPlan, Plan: h.plan})
		first := h.member(0)
		for range 4 {
			h.round()
		}
		for h.last() < records+1 {
			h.commit()
		}
		h.passive("w", newStore(t), records, h.key) // of record 40
		h.announce()
		late := h.member(1, horizon)
		h.announce()
		if late.Unproven() != records {
			t.Fatalf("took the snapshot of record %d, want %d", late.Unproven(), records)
		}
		h.take()
		for range 6 {
			h.round()
		}
		h.announce()
		h.agrees(late, h.last())
		h.agrees(first, h.last())
	})
}

// A snapshot between the phases of a round holds the first phase, and a device that takes it
// continues with the second.
func TestSnapshotBetweenPhases(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := testPlan(small)
		p.Control, p.Steps, p.DigestEvery = plan.ScaffoldPoint, 2, 2
		h := newHost(t, p)
		for h.last() < 40 {
			h.commit()
		}
		l := h.library(40)
		if n, _ := h.witness(40).Pending(); n != 40 {
			t.Fatalf("record 40 is of phase 2: pending %d", n)
		}
		l.hold(h.witness(40), replica.History{})
		d := h.member(0, horizon)
		h.announce()
		r := by(h.take(), wire.Contribution)["d0"]
		v, ok := r.Control()
		if !ok || v.N != 40 || v.Scalars.Len() != 2 {
			t.Errorf("control variate %v of record %d, want 2 scalars of 40", v.Scalars, v.N)
		}
		if p := d.now(); p.Phase != 2 || d.Unproven() != 40 {
			t.Errorf("phase %d, snapshot of record %d", p.Phase, d.Unproven())
		}
		h.conclude(h.aggregate([]reply{r}))
		h.announce()
		h.agrees(d, h.last())
	})
}
