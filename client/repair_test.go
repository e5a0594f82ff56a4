package client_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/wire"
)

// refer makes an announcement bring the reference of the state after record n.
func (h *host) refer(n uint64, edits ...func(*wire.Reference)) func(*wire.Announcement) {
	digest := h.witness(n).Digest()
	r := wire.Reference{N: n, Tip: wire.HashRecord(h.records[n-1]).Tip(), Digest: [8]byte(digest[:8])}
	for _, edit := range edits {
		edit(&r)
	}
	return func(a *wire.Announcement) { a.Rest = r.Append(nil) }
}

// diverged returns what the recorder was told of states that differ.
func (d *device) diverged() (said []string) {
	for _, p := range d.progress() {
		if errors.Is(p.Err, client.ErrDiverged) && !errors.Is(p.Err, client.ErrStore) {
			said = append(said, p.Err.Error())
		}
	}
	return said
}

// digestPlan is of a run that compares digests every 4 records.
func digestPlan() *wire.Plan {
	p := testPlan(small)
	p.Rule, p.Beta, p.DigestEvery = wire.TorchMomentum, 0.5, 4
	return p
}

// A device whose state changed under it rebuilds it when the reference says so:
// from its checkpoint, or from record 1 where there is none, where that is of a
// later record, or where it is wrong too. It says so, and takes part like before.
func TestRepair(t *testing.T) {
	tests := []struct {
		name    string
		store   bool
		flip    int // after this record
		every   uint64
		restart bool
		says    []string
		asked   uint64 // first record of the replays, in the end
		aside   bool
	}{
		{"no store", false, 6, 0, false, []string{"rebuilding from record 1"}, 2, false},
		{"checkpoint before it", true, 6, 5, false, []string{"rebuilding from the checkpoint after record 5"}, 6, false},
		{"checkpoint has it", true, 4, 5, false, []string{"from the checkpoint after record 5", "from record 1"}, 2, true},
		{"checkpoint is later", true, 6, 8, false, []string{"from record 1"}, 2, true},
		{"restarted from a wrong checkpoint", true, 4, 5, true, []string{"from the checkpoint after record 5", "from record 1"}, 2, true},
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
				said := d.diverged()
				if len(said) != len(tt.says) {
					t.Fatalf("told %q, want %q", said, tt.says)
				}
				for i, s := range tt.says {
					if !strings.Contains(said[i], s) || !strings.Contains(said[i], "after record 8 digest") {
						t.Errorf("told %q, want %q", said[i], s)
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
				if said := d.diverged(); len(said) > 0 {
					t.Errorf("told %q again", said)
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

// A rebuilt state is reported in place of the one before.
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
		if was.N != 8 || was.Digest == [8]byte(want[:8]) || now.N != 8 || now.Digest != [8]byte(want[:8]) {
			t.Errorf("reported %x, then %x of record %d, want %x of 8", was.Digest, now.Digest, now.N, want[:8])
		}
	})
}

// A rebuild that is interrupted is finished later.
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

// A reference that is wrong costs one rebuild; then the device goes on with what
// the log says, tells each time, and rebuilds again only after a reference
// agreed with it.
func TestWrongReference(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h, store := newHost(t, digestPlan()), newStore(t)
		d := h.device("d0", bowlLoss(small, 0), with(store), func(c *client.Config) { c.CheckpointEvery = 3 })
		wrong := func(r *wire.Reference) { r.Digest[0] ^= 1 }
		for h.last() < 20 {
			h.follow(4 - int(h.last())%4)
			h.asked()
			for range 3 {
				h.announce(h.refer(h.last(), wrong))
				h.take()
			}
			h.agrees(d, h.last())
			said, asked := d.diverged(), h.asked()
			switch h.last() {
			case 4:
				if len(said) != 3 || !strings.Contains(said[2], "keeping it") {
					t.Errorf("record 4: told %q, want two rebuilds and that they did not help", said)
				}
			case 8:
				if len(said) != 1 || len(asked) > 0 || !strings.Contains(said[0], "keeping it") {
					t.Errorf("record 8: told %q and asked from %v, want only that it differs", said, asked)
				}
				h.announce(h.refer(h.last()))
			default:
				if h.last() == 12 && len(said) != 3 {
					t.Errorf("record 12: told %q, want rebuilds again", said)
				}
			}
		}
		h.take()
		h.commit()
		h.announce()
		h.one(wire.Contribution)
		h.agrees(d, h.last())
	})
}

// What is no reference of this device's state is no matter: of another record,
// of another log, of a state that is not known any more, or nonsense.
func TestIrrelevantReference(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHost(t, digestPlan())
		d := h.device("d0", bowlLoss(small, 0))
		h.follow(30)
		h.asked()
		wrong := func(r *wire.Reference) { r.Digest[0] ^= 1 }
		for _, edit := range []func(*wire.Announcement){
			h.refer(4, wrong), // forgotten
			h.refer(29, wrong),
			h.refer(28, wrong, func(r *wire.Reference) { r.Tip[0] ^= 1 }),
			h.refer(28, wrong, func(r *wire.Reference) { r.N = 1 << 60 }),
			func(a *wire.Announcement) { a.Rest = []byte{1, 2, 3} },
		} {
			h.announce(edit)
		}
		if said, asked := d.diverged(), h.asked(); len(said) > 0 || len(asked) > 0 {
			t.Errorf("told %q, asked from %v, want nothing", said, asked)
		}
		// A false announcement of an old record brings no reference either.
		h.announce(h.refer(28, wrong), func(a *wire.Announcement) { a.N = 20 })
		if said := d.diverged(); len(said) > 0 {
			t.Errorf("told %q by an old announcement", said)
		}
	})
}

// Digests of due states are computed outside of the cohort and within a catch-up
// too, and compared.
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
		if said := d.diverged(); len(said) != 1 {
			t.Errorf("told %q, want one rebuild", said)
		}
		h.agrees(d, h.last())
		h.silent()
	})
}

// A flip that no reference catches at first is caught by a later one.
func TestLateReference(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h, store := newHost(t, digestPlan()), newStore(t)
		d := h.device("d0", bowlLoss(small, 0), with(store), func(c *client.Config) { c.CheckpointEvery = 4 })
		h.follow(3)
		d.FlipBit(0)
		h.follow(16)
		h.announce(h.refer(16))
		h.agrees(d, h.last())
		if said := d.diverged(); !slices.ContainsFunc(said, func(s string) bool { return strings.Contains(s, "record 1") }) {
			t.Errorf("told %q, want a rebuild from record 1", said)
		}
	})
}
