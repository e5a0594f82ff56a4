package client_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// A rollback returns to the vectors of an earlier record.
func TestDenseRollback(t *testing.T) {
	for _, tt := range denseMethods {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				p := densePlan(small)
				p.DigestEvery = 1
				tt.edit(p)
				h, store := newHost(t, p), newStore(t)
				d := h.device("d0", bowlLoss(small, 0), with(store),
					func(c *client.Config) { c.CheckpointEvery = 1 })
				w := h.passive("w", nil, 0)
				for range 6 {
					h.denseRound()
				}
				h.announce()
				h.rollback(3)
				h.announce()
				h.agrees(d, h.last())
				h.denseRound()
				h.rollback(1)
				h.announce()
				h.agrees(d, h.last())
				for range 3 {
					h.denseRound()
				}
				late := h.device("d1", bowlLoss(small, 1))
				h.announce()
				for _, d := range []*device{d, w, late} {
					h.agrees(d, h.last())
				}
			})
		})
	}
}

// A checkpoint holds a whole state. After a kill, a device fetches only the last vectors.
func TestDenseCheckpoint(t *testing.T) {
	for _, tt := range denseMethods {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				p := densePlan(small)
				tt.edit(p)
				h, store := newHost(t, p), newStore(t)
				d := h.device("d0", bowlLoss(small, 0), with(store),
					func(c *client.Config) { c.CheckpointEvery = 4 })
				for range 9 {
					h.denseRound()
				}
				store = d.killed(store)
				for range 20 {
					h.commit()
				}
				h.gone(p.Phases())
				h.fetched()
				h.asked()
				d = h.device("d0", bowlLoss(small, 0), with(store))
				h.announce()
				h.agrees(d, h.last())
				if asked := h.asked(); len(asked) == 0 || asked[0] < 6 {
					t.Errorf("asked for records from %v on, want those after the checkpoint", asked)
				}
				if n := len(h.fetched()); n != p.Phases() {
					t.Errorf("asked for %d vectors, want %d", n, p.Phases())
				}
				h.denseRound()
			})
		})
	}
}

// If a device's state differs from the reference, the device reports that, rebuilds the state, and
// then agrees with the run.
func TestDenseRepair(t *testing.T) {
	for _, checkpoint := range []bool{false, true} {
		bubble(t, func(t *testing.T) {
			p := densePlan(small)
			p.DigestEvery = 2
			h, store := newHost(t, p), newStore(t)
			d := h.device("d0", bowlLoss(small, 0), with(store), func(c *client.Config) {
				if checkpoint {
					c.CheckpointEvery = 3
				}
			})
			for h.last() < 8 {
				h.denseRound()
			}
			d.progress()
			h.announce(h.refer(8, func(r *wire.Reference) { r.Digest[0] ^= 1 }))
			h.agrees(d, h.last())
			reported := 0
			for _, p := range d.progress() {
				if errors.Is(p.Err, client.ErrDiverged) {
					reported++
				}
			}
			want := 2
			if checkpoint {
				want = 4 // the checkpoint, which is set aside, and record 1
			}
			if reported != want {
				t.Errorf("reported %d times that the state differs, want %d", reported, want)
			}
			h.denseRound()
			h.announce()
			h.agrees(d, h.last())
		})
	}
}

// If several announcements wait, a device fetches only the vectors of the last one.
func TestDenseBacklog(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := densePlan(small)
		p.EvalEvery, p.EvalCount, p.Metrics = 1, 1, []string{"m"}
		h, o := newHost(t, p), newMoody(t)
		release := make(chan struct{})
		o.metrics = func(context.Context, []float32) ([]float64, int, error) {
			<-release
			return []float64{1}, 1, nil
		}
		d := h.device("d0", o)
		h.announce()
		h.oneVector()
		h.fetched()
		for range 12 {
			h.commit()
			h.announce()
		}
		close(release)
		synctest.Wait()
		h.agrees(d, h.last())
		if got := h.fetched(); len(got) != 1 || got[0].digest != h.digest(h.last()) {
			t.Errorf("asked for %d vectors, want the last", len(got))
		}
		if came := h.vectors(); len(came) != 1 || came[0].N != h.last()+1 {
			t.Errorf("%v arrived, want one of record %d", came, h.last()+1)
		}
	})
}

// If a vector is gone, a device takes a snapshot of that state, or of an earlier state that a later
// vector completes.
func TestDenseSnapshot(t *testing.T) {
	for _, tt := range denseMethods {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				p := densePlan(small)
				p.DigestEvery = 4
				tt.edit(p)
				h := newHost(t, p)
				d, w := h.device("d0", bowlLoss(small, 0)), h.passive("w", newStore(t), 4)
				for h.last() < 8 {
					h.denseRound()
				}
				h.announce()
				h.agrees(d, 8)
				h.agrees(w, 8)
				h.gone(0)
				late := h.device("d1", bowlLoss(small, 1))
				h.announce()
				h.agrees(late, 8)
				if late.Unproven() != 8 {
					t.Errorf("the state began with record %d, want the snapshot of 8",
						late.Unproven())
				}
				for h.last() < 13 {
					h.denseRound()
				}
				h.announce(h.refer(12))
				for _, d := range []*device{d, w, late} {
					h.agrees(d, h.last())
				}
				if late.Unproven() != 0 {
					t.Error("the reference did not prove the snapshot")
				}
				for _, p := range w.progress() {
					if p.Err != nil {
						t.Errorf("the passive replica reported %v", p.Err)
					}
				}
			})
		})
	}
}

// While vectors are available, a device asks for no snapshot, however far behind it is.
func TestDenseVectorsBeforeSnapshots(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := densePlan(small)
		p.DigestEvery = 4
		h := newHost(t, p)
		for h.last() < 60 {
			h.commit()
		}
		l := h.library(40)
		d := h.device("d0", bowlLoss(small, 0), horizon)
		h.announce()
		h.agrees(d, 60)
		if len(l.asked) > 0 {
			t.Errorf("asked %d times for a snapshot", len(l.asked))
		}
	})
}

// If one vector is gone, the device takes a snapshot with this vector, and fetches the vector after
// it.
func TestDenseSnapshotAndVector(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := densePlan(small)
		p.Control, p.DigestEvery = plan.ScaffoldPoint, 4
		h := newHost(t, p)
		h.device("d0", bowlLoss(small, 0))
		w := h.passive("w", newStore(t), 4)
		for h.last() < 9 {
			h.denseRound()
		}
		h.announce()
		h.agrees(w, 9)
		h.gone(1) // c is of record 8, x of record 9
		late := h.device("d1", bowlLoss(small, 1))
		h.announce()
		h.agrees(late, 9)
		if late.Unproven() != 8 {
			t.Errorf("the state began with record %d, want the snapshot of 8", late.Unproven())
		}
		if came := h.vectors(); len(came) != 2 || came[1].id != "d1" {
			t.Errorf("%v arrived, want a vector of the late joiner too", came)
		}
	})
}
