package client_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// private returns the host of a private run whose keys derive from the secret.
func private(t *testing.T) *host { return privateOf(t, true) }

func privateOf(t *testing.T, derived bool) *host {
	p := digestPlan()
	p.RunKey, p.KeyCheck = nil, plan.KeyCheck(secret)
	if derived {
		p.SetSecret(secret)
	}
	h := newHost(t, p)
	h.runKey = secret
	return h
}

func keyed(key []byte) func(*client.Config) { return func(c *client.Config) { c.RunKey = key } }

// A missing, wrong or needless run key ends Run at record 1, and the error names the remedy.
// The device then has no model, and has sent nothing.
func TestRunKey(t *testing.T) {
	other := bytes.Repeat([]byte{1}, 32)
	for _, tt := range []struct {
		name   string
		public bool
		key    []byte
		says   string
	}{
		{"missing", false, nil, "set Config.RunKey to the 32 bytes"},
		{"wrong", false, other, "set Config.RunKey to the 32 bytes"},
		{"needless", true, secret, "leave Config.RunKey nil"},
	} {
		for _, passive := range []bool{false, true} {
			t.Run(tt.name, func(t *testing.T) {
				bubble(t, func(t *testing.T) {
					h := private(t)
					if tt.public {
						h.restarted(digestPlan())
					}
					var d *device
					if passive {
						d = h.passive("w", newStore(t), 4, keyed(tt.key))
					} else {
						d = h.device("d0", bowlLoss(small, 0), keyed(tt.key))
					}
					err := d.final()
					if !errors.Is(err, plan.ErrRunKey) ||
						!strings.HasPrefix(err.Error(), "client: plan: ") ||
						!strings.Contains(err.Error(), tt.says) {
						t.Errorf("Run returned %v, want %v that says %q",
							err, plan.ErrRunKey, tt.says)
					}
					if n, _ := d.Params(make([]float32, small)); n != 0 {
						t.Errorf("got a model after record %d, want none", n)
					}
					h.announce()
					h.silent()
				})
			})
		}
	}
}

// A client with another key does not set aside the items of a store, because the state is good.
func TestRunKeyOfCheckpoint(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h, store := private(t), newStore(t)
		d := h.member(0, with(store))
		h.follow(5)
		d.stop()
		for _, key := range [][]byte{nil, bytes.Repeat([]byte{1}, 32)} {
			d = h.device("d0", bowlLoss(small, 0), keyed(key), with(store))
			if err := d.result(); !errors.Is(err, plan.ErrRunKey) ||
				!strings.Contains(err.Error(), "checkpoint") {
				t.Errorf("Run returned %v, want %v of the checkpoint", err, plan.ErrRunKey)
			}
		}
		if store.isAside("checkpoint") || store.isAside("reply") {
			t.Error("the checkpoint of another key was set aside")
		}
		h.asked()
		d = h.member(0, with(store))
		h.announce()
		h.agrees(d, h.last())
		if asked := h.asked(); len(asked) > 0 {
			t.Errorf("asked from %v, want it to go on from the checkpoint", asked)
		}
	})
}

// The snapshot of a passive replica reveals nothing without the key, and a device with the key
// takes the snapshot. A damaged snapshot counts as bad, three times.
func TestSealedSnapshot(t *testing.T) {
	for _, damage := range []string{"", "bit", "plain", "cut", "of an earlier version"} {
		bubble(t, func(t *testing.T) {
			old := damage == "of an earlier version"
			magic := map[bool]string{true: "zofl sealed 1\n", false: "zofl sealed 2\n"}[old]
			if old {
				damage = ""
			}
			h, store := privateOf(t, !old), newStore(t)
			for h.last() < 41 {
				h.commit()
			}
			w := h.passive("w", store, 40, keyed(secret))
			file := store.get("snapshot")
			if !bytes.HasPrefix(file, []byte(magic)) ||
				bytes.Contains(file, h.plan.KeyCheck) ||
				bytes.Contains(file, []byte("zofl state")) {
				t.Fatalf("the snapshot begins with %q", file[:min(len(file), 20)])
			}
			if kept := store.get("checkpoint"); damage == "" && len(kept) > 0 &&
				!bytes.HasPrefix(kept, []byte("zofl state")) {
				t.Errorf("the checkpoint begins with %q", kept[:20])
			}
			w.stop()
			switch damage {
			case "bit":
				file[len(file)-40] ^= 1
			case "plain":
				file = stateOf(t, h.witness(40), replica.History{})
			case "cut":
				file = file[:len(file)-17]
			}
			l := h.library(40)
			l.n, l.tip, l.file = 40, h.witness(40).Hash().Tip(), file
			d := h.member(0, horizon)
			for range 5 {
				h.announce()
				pass(2 * time.Minute)
			}
			h.agrees(d, h.last())
			if took := d.Unproven() == 40; took != (damage == "") {
				t.Errorf("damage %q: got taken %v, want %v", damage, took, !took)
			}
			d.stop()
		})
	}
}

// A restarted passive replica serves the snapshot in its store. The replica does not encrypt the
// snapshot again, because devices may already have pieces of it.
func TestSealedSnapshotStays(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h, store := private(t), newStore(t)
		for h.last() < 41 {
			h.commit()
		}
		w := h.passive("w", store, 40, keyed(secret))
		first := store.get("snapshot")
		store = w.killed(store)
		store.put("checkpoint", nil) // so that the replica replays
		store.took()
		w = h.passive("w", store, 40, keyed(secret))
		h.agrees(w, h.last())
		if !bytes.Equal(store.get("snapshot"), first) || count(store.took(), "snapshot") > 0 {
			t.Error("the snapshot was sealed anew, want the stored one")
		}
		late := h.member(1, horizon)
		h.announce()
		h.agrees(late, h.last())
		if late.Unproven() != 40 {
			t.Errorf("took the snapshot of record %d, want 40", late.Unproven())
		}
		w.stop()
		store.put("snapshot", append([]byte(nil), first[:len(first)-1]...))
		w = h.passive("w", store, 40, keyed(secret))
		if !store.isAside("snapshot") {
			t.Error("a damaged snapshot was not set aside")
		}
		w.stop()
	})
}

// A run key is 32 bytes.
func TestRunKeyConfig(t *testing.T) {
	h := newHost(t, testPlan(small))
	_, err := client.New(client.Config{Bus: h.bus, Run: runName, ID: "d0",
		Objective: bowlLoss(small, 0), RunKey: make([]byte, 31)})
	if !errors.Is(err, client.ErrConfig) || !strings.Contains(err.Error(), "RunKey has 31 bytes") {
		t.Errorf("got %v", err)
	}
}

// The client copies the run key.
func TestRunKeyIsCopied(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h, key := private(t), bytes.Clone(secret)
		d := h.newDevice("d0", bowlLoss(small, 0), keyed(key))
		clear(key)
		d.run()
		h.announce()
		h.one(wire.Contribution)
		d.stop()
	})
}
