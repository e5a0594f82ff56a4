package client_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// refer makes an announcement carry the reference of the state after record n.
func (h *host) refer(n uint64, edits ...func(*wire.Reference)) func(*wire.Announcement) {
	digest := h.witness(n).Digest()
	r := wire.Reference{N: n, Tip: wire.HashRecord(h.records[n-1]).Tip(),
		Digest: [8]byte(digest[:8])}
	for _, edit := range edits {
		edit(&r)
	}
	return func(a *wire.Announcement) { a.Rest = r.Append(nil) }
}

// diverged returns the reports of states that differ.
func (d *device) diverged() (reports []string) {
	for _, p := range d.progress() {
		if errors.Is(p.Err, client.ErrDiverged) && !errors.Is(p.Err, client.ErrStore) {
			reports = append(reports, p.Err.Error())
		}
	}
	return reports
}

// digestPlan is the plan of a run that compares digests every 4 records.
func digestPlan() *plan.Plan {
	p := testPlan(small)
	p.Rule, p.Beta, p.DigestEvery = plan.TorchMomentum, 0.5, 4
	return p
}

// If a fault changed a device's state, the device rebuilds the state when the reference differs.
// The device rebuilds from its checkpoint. If there is no checkpoint, or only a later or wrong
// checkpoint, the device rebuilds from record 1. The device reports the difference, and takes part
// as before.
func TestRepair(t *testing.T) {
	tests := []struct {
		name    string
		store   bool
		flip    int // the fault comes after this record
		every   uint64
		restart bool
		says    []string
		asked   uint64 // first record of the last replay
		aside   bool
	}{
		{"no store", false, 6, 0, false, []string{"rebuilding from record 1"}, 2, false},
		{"checkpoint before it", true, 6, 5, false,
			[]string{"rebuilding from the checkpoint after record 5"}, 6, false},
		{"checkpoint has it", true, 4, 5, false, []string{"from the checkpoint after record 5",
			"from record 1"}, 2, true},
		{"checkpoint is later", true, 6, 8, false, []string{"from record 1"}, 2, true},
		{"restarted from a wrong checkpoint", true, 4, 5, true,
			[]string{"from the checkpoint after record 5", "from record 1"}, 2, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				h, store := newHost(t, digestPlan()), newStore(t)
				edit := func(c *client.Config) {
					if tt.store {
						c.Store, c.CheckpointEvery = store, tt.every
					}
				}
				d := h.device("d0", bowlLoss(small, 0), edit)
				h.follow(tt.flip - 1)
				d.FlipBit(17)
				h.follow(int(8 - h.last()))
				if tt.restart {
					store = d.killed(store)
					d = h.device("d0", bowlLoss(small, 0), edit)
				}
				d.progress()
				h.asked()
				h.announce(h.refer(8))
				h.agrees(d, h.last())
				reports := d.diverged()
				if len(reports) != len(tt.says) {
					t.Fatalf("reported %q, want %q", reports, tt.says)
				}
				for i, s := range tt.says {
					if !strings.Contains(reports[i], s) ||
						!strings.Contains(reports[i], "after record 8 digest") {
						t.Errorf("reported %q, want %q", reports[i], s)
					}
				}
				if asked := h.asked(); asked[len(asked)-1] != tt.asked {
					t.Errorf("asked from %v, want %d in the end", asked, tt.asked)
				}
				if store.isAside("checkpoint") != tt.aside {
					t.Errorf("checkpoint set aside: %v, want %v", !tt.aside, tt.aside)
				}
				if tt.store && len(store.get("checkpoint")) == 0 {
					t.Error("the rebuilt state was not kept")
				}
				h.take()
				h.follow(1)
				h.announce(h.refer(8))
				h.one(wire.Contribution)
				if reports := d.diverged(); len(reports) > 0 {
					t.Errorf("reported %q again", reports)
				}
				if tt.store { // the state in the store is right now
					d.stop()
					d = h.device("d0", bowlLoss(small, 0), edit)
					h.agrees(d, h.last())
				}
			})
		})
	}
}

// The device reports the digest of a rebuilt state in place of the previous digest.
func TestRepairedDigestIsReported(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHost(t, digestPlan())
		d := h.device("d0", bowlLoss(small, 0))
		h.follow(6)
		d.FlipBit(3)
		h.commit()
		h.announce()
		was := by(h.take(), wire.DigestReport)["d0"]
		h.announce(h.refer(8))
		now := by(h.take(), wire.DigestReport)["d0"]
		want := h.witness(8).Digest()
		if was.N != 8 || was.Digest == [8]byte(want[:8]) || now.N != 8 ||
			now.Digest != [8]byte(want[:8]) {
			t.Errorf("reported %x, then %x of record %d, want %x of 8",
				was.Digest, now.Digest, now.N, want[:8])
		}
	})
}

// The device completes an interrupted rebuild later.
func TestInterruptedRepair(t *testing.T) {
	for _, lost := range []uint64{2, 5} {
		for _, stop := range []bool{false, true} {
			bubble(t, func(t *testing.T) {
				h := newHost(t, digestPlan())
				d := h.device("d0", bowlLoss(small, 0))
				h.follow(5)
				d.FlipBit(3)
				h.follow(3)
				h.atOnce = 1
				h.answers(func(m bus.Message) bool {
					request, err := wire.DecodeCatchUpRequest(m.Data)
					return err == nil && request.From >= lost
				})
				h.announce(h.refer(8))
				pass(time.Minute)
				if stop {
					d.stop()
					d.run()
				}
				h.answers(nil)
				h.announce(h.refer(8))
				pass(time.Minute)
				h.agrees(d, h.last())
				h.take()
				h.announce(h.refer(8))
				h.one(wire.Contribution)
			})
		}
	}
}

// A wrong reference costs one rebuild. Then the device keeps the log's state, and reports each
// difference. The device rebuilds again only after a reference agreed, and only 8 digests later. So
// wrong references between right ones cost no more rebuilds.
func TestWrongReference(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h, store := newHost(t, digestPlan()), newStore(t)
		d := h.device("d0", bowlLoss(small, 0), with(store),
			func(c *client.Config) { c.CheckpointEvery = 3 })
		wrong := func(r *wire.Reference) { r.Digest[0] ^= 1 }
		for h.last() < 40 {
			h.follow(4 - int(h.last())%4)
			h.asked()
			for range 3 {
				h.announce(h.refer(h.last(), wrong))
				h.take()
			}
			h.agrees(d, h.last())
			reports, asked := d.diverged(), h.asked()
			switch h.last() {
			case 4:
				if len(reports) != 3 || !strings.Contains(reports[2], "keeping it") {
					t.Errorf("record 4: reported %q, want two rebuilds and that they did not help",
						reports)
				}
			case 8:
				if len(reports) != 1 || len(asked) > 0 ||
					!strings.Contains(reports[0], "keeping it") {
					t.Errorf("record 8: reported %q and asked from %v, want only that it differs",
						reports, asked)
				}
				h.announce(h.refer(h.last()))
			case 36:
				if len(reports) != 3 {
					t.Errorf("record 36: reported %q, want rebuilds again", reports)
				}
			default:
				if len(reports) != 1 || len(asked) > 0 || !strings.Contains(reports[0], "keeping it") {
					t.Errorf("record %d: reported %q and asked from %v, want only that it differs",
						h.last(), reports, asked)
				}
				h.announce(h.refer(h.last()))
			}
		}
		h.take()
		h.commit()
		h.announce()
		h.one(wire.Contribution)
		h.agrees(d, h.last())
	})
}

// A reference has no effect if it does not concern this device's state: a reference of another
// record, of another log, of a state whose digest the device no longer keeps, or nonsense.
func TestIrrelevantReference(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHost(t, digestPlan())
		d := h.device("d0", bowlLoss(small, 0))
		h.follow(30)
		h.asked()
		wrong := func(r *wire.Reference) { r.Digest[0] ^= 1 }
		for _, edit := range []func(*wire.Announcement){
			h.refer(4, wrong), // the device no longer keeps that digest
			h.refer(29, wrong),
			h.refer(28, wrong, func(r *wire.Reference) { r.Tip[0] ^= 1 }),
			h.refer(28, wrong, func(r *wire.Reference) { r.N = 1 << 60 }),
			func(a *wire.Announcement) { a.Rest = []byte{1, 2, 3} },
		} {
			h.announce(edit)
		}
		if reports, asked := d.diverged(), h.asked(); len(reports) > 0 || len(asked) > 0 {
			t.Errorf("reported %q, asked from %v, want nothing", reports, asked)
		}
		// A false announcement of an old record carries no valid reference, either.
		h.announce(h.refer(28, wrong), func(a *wire.Announcement) { a.N = 20 })
		if reports := d.diverged(); len(reports) > 0 {
			t.Errorf("reported %q by an old announcement", reports)
		}
	})
}

// A device also computes and compares due digests outside the cohort and during a catch-up.
func TestDigestOutsideCohort(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHost(t, digestPlan())
		d := h.device("d0", bowlLoss(small, 0))
		h.follow(2)
		d.FlipBit(9)
		for h.last() < 13 {
			h.commit()
		}
		h.announce(h.refer(8), func(a *wire.Announcement) { a.Cohort.Sampled = 0 })
		if reports := d.diverged(); len(reports) != 1 {
			t.Errorf("reported %q, want one rebuild", reports)
		}
		h.agrees(d, h.last())
		h.silent()
	})
}

// If no reference catches a bit flip at first, a later reference catches it.
func TestLateReference(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h, store := newHost(t, digestPlan()), newStore(t)
		d := h.device("d0", bowlLoss(small, 0), with(store),
			func(c *client.Config) { c.CheckpointEvery = 4 })
		h.follow(3)
		d.FlipBit(0)
		h.follow(16)
		h.announce(h.refer(16))
		h.agrees(d, h.last())
		if reports := d.diverged(); !slices.ContainsFunc(reports,
			func(s string) bool { return strings.Contains(s, "record 1") }) {
			t.Errorf("reported %q, want a rebuild from record 1", reports)
		}
	})
}

// A wrong reference makes a device replay once, however often wrong references come between right
// ones.
func TestWrongReferenceAgain(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHost(t, digestPlan())
		d := h.device("d0", bowlLoss(small, 0), with(newStore(t)))
		h.follow(12)
		h.asked()
		wrong := func(r *wire.Reference) { r.Digest[0] ^= 1 }
		for range 5 {
			h.announce(h.refer(12, wrong))
			h.announce(h.refer(12))
		}
		h.agrees(d, h.last())
		if asked := h.asked(); len(asked) > 2 {
			t.Errorf("one wrong reference, 5 times: got replays %v, want one", asked)
		}
	})
}

// A device that keeps disagreeing writes no more checkpoints than other devices.
func TestWrongReferencesSpareFlash(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := digestPlan()
		p.DigestEvery = 1
		h, store := newHost(t, p), newStore(t)
		h.device("d0", bowlLoss(small, 0), with(store))
		h.follow(4)
		wrong := func(r *wire.Reference) { r.Digest[0] ^= 1 }
		h.announce(h.refer(5, wrong))
		h.take()
		store.mu.Lock()
		store.saved = nil
		store.mu.Unlock()
		for range 32 {
			h.commit()
			h.announce(h.refer(h.last(), wrong))
			h.take()
		}
		n := 0
		for _, s := range store.saved {
			if s == "checkpoint" {
				n++
			}
		}
		if n > 2 {
			t.Errorf("got %d checkpoints in 32 records, want those of CheckpointEvery = 64", n)
		}
	})
}
