package client_test

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// passive makes a passive replica of h and runs it.
func (h *host) passive(
	id string, store *memStore, every uint64, edits ...func(*client.Config),
) *device {
	h.t.Helper()
	return h.device(id, nil, append([]func(*client.Config){func(c *client.Config) {
		c.Passive = &client.Passive{SnapshotEvery: every}
		if store != nil {
			c.Store = store
		}
	}}, edits...)...)
}

// A passive replica follows a run without joining, whatever the roster, and reports each due
// digest once.
func TestPassive(t *testing.T) {
	for _, roster := range []plan.Roster{plan.ListedRoster, plan.OpenRoster} {
		bubble(t, func(t *testing.T) {
			p := digestPlan()
			p.Roster, p.Shards = roster, 3
			h := newHost(t, p)
			h.atOnce = 2
			for h.last() < 7 {
				h.commit()
			}
			d := h.passive("w", nil, 0)
			h.agrees(d, h.last()) // before anything is announced
			if d.Dim() != small {
				t.Errorf("Dim %d, want %d", d.Dim(), small)
			}
			h.follow(2)
			for h.last() < 18 {
				h.commit()
				h.announce()
				h.announce() // repeated
				for _, r := range h.take() {
					want := h.witness(r.N).Digest()
					if r.Kind != wire.DigestReport || r.id != "w" || r.N != h.last() ||
						r.N%4 != 0 || r.Digest != [8]byte(want[:8]) {
						t.Errorf("got %v of record %d by %s with digest %x at record %d",
							r.Kind, r.N, r.id, r.Digest, h.last())
					}
				}
			}
			for range 7 {
				h.commit()
			}
			h.announce()
			if replies := h.take(); len(replies) != 2 || replies[0].N != 20 || replies[1].N != 24 {
				t.Errorf("got %s, want the digests of records 20 and 24", kinds(replies))
			}
			h.agrees(d, h.last())
			if h.joins != 0 {
				t.Errorf("%d joins, want none", h.joins)
			}
			h.announce(func(a *wire.Announcement) { a.State, a.Reason = wire.Paused, "2 of 3" })
			if p := d.now(); p.State != client.Paused || p.Reason != "2 of 3" {
				t.Errorf("progress %+v, want paused", p)
			}
			h.end()
			h.announce(func(a *wire.Announcement) { a.State = wire.Ended })
			if err := d.result(); err != nil || d.now().State != client.Ended {
				t.Errorf("Run returned %v at the end", err)
			}
		})
	}
}

// If a passive replica cannot send a digest, it sends the digest later.
func TestPassiveOffline(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHost(t, digestPlan())
		net := &offline{Memory: h.bus}
		h.passive("w", nil, 0, func(c *client.Config) { c.Bus = net })
		h.follow(2)
		net.down.Store(true)
		h.commit()
		h.announce()
		h.silent()
		net.down.Store(false)
		h.commit()
		h.announce()
		if r := h.one(wire.DigestReport); r.N != 4 {
			t.Errorf("digest of record %d, want 4", r.N)
		}
	})
}

// A passive replica waits for a coordinator and follows records that no announcement carries. If
// the log is another, the replica tells the coordinator, and starts over once the operator accepted
// the loss. The replica never gets a slot.
func TestPassiveFollowsTheLog(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h, store := newHost(t, digestPlan()), newStore(t)
		h.answers(func(bus.Message) bool { return true })
		d := h.passive("w", store, 0)
		pass(time.Minute)
		if p := d.now(); p.State != client.Joining || p.Err == nil {
			t.Errorf("progress %+v, want joining and an error", p)
		}
		h.answers(nil)
		pass(time.Minute)
		h.agrees(d, 1)
		for range 9 {
			h.commit()
		}
		pass(time.Minute)
		h.agrees(d, h.last())
		had := h.last()
		h.cut(6, 2)
		for range 7 {
			h.commit(1, 2)
		}
		pass(time.Minute)
		h.holdsOn(d, had)
		h.accept()
		pass(time.Minute)
		h.agrees(d, h.last())
		if len(h.slots) > 0 {
			t.Errorf("it has a slot: %v", h.slots)
		}
		d.stop()
		h.commit()
		h.asked()
		d = h.passive("w", store, 0)
		h.agrees(d, h.last())
		if asked := h.asked(); asked[0] != h.last()-1 {
			t.Errorf("asked from %v, want it to go on", asked)
		}
		h.end()
		pass(time.Minute)
		if err := d.result(); err != nil {
			t.Errorf("Run returned %v", err)
		}
	})
}

func TestPassiveConfig(t *testing.T) {
	m := bus.NewMemory()
	defer m.Close()
	for _, tt := range []struct {
		edit func(*client.Config)
		says string
	}{
		{func(c *client.Config) { c.Objective = bowlLoss(1, 0) },
			"Objective and Passive are both set"},
		{func(c *client.Config) { c.Passive.SnapshotEvery = 1 }, "client.OpenStore"},
		{func(c *client.Config) { c.Horizon = 1 }, "Horizon"},
	} {
		cfg := client.Config{Bus: m, Run: "r", ID: "d", Passive: &client.Passive{}}
		if _, err := client.New(cfg); err != nil {
			t.Fatal(err)
		}
		tt.edit(&cfg)
		if _, err := client.New(cfg); !errors.Is(err, client.ErrConfig) ||
			!bytes.Contains([]byte(err.Error()), []byte(tt.says)) {
			t.Errorf("got %v, want %v that says %q", err, client.ErrConfig, tt.says)
		}
	}
}

// A passive replica has no model before record 1.
func TestPassiveParams(t *testing.T) {
	c, err := client.New(client.Config{Bus: bus.NewMemory(), Run: runName, ID: "w",
		Passive: &client.Passive{}})
	if err != nil {
		t.Fatal(err)
	}
	if n, err := c.Params(make([]float32, 8)); n != 0 || err != nil {
		t.Errorf("Params before record 1: got %d, %v, want 0 and dst unchanged", n, err)
	}
}
