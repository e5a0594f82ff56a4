package client_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/wire"
)

// The client reports a failing store once until the store works again. The run continues, and the
// client tries the store again when a checkpoint is due.
func TestStoreFails(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h, store := newHost(t, testPlan(small)), newStore(t)
		full := errors.New("no space left on device")
		d := h.device("d0", bowlLoss(small, 0), with(store),
			func(c *client.Config) { c.CheckpointEvery = 10 })
		reported := func() (n int) {
			for _, p := range d.progress() {
				if errors.Is(p.Err, client.ErrStore) && errors.Is(p.Err, full) {
					n++
				}
			}
			return n
		}
		for range 2 {
			store.fails(full, "checkpoint", "reply")
			h.take()
			h.follow(35)
			if n := reported(); n != 2 {
				t.Errorf("reported %d times that the store is full, want once for each item", n)
			}
			saved := store.took()
			if n := count(saved, "checkpoint failed"); n < 3 || n > 4 {
				t.Errorf("%d attempts at a checkpoint in 35 records, want one in 10", n)
			}
			if n := count(saved, "reply failed"); n != 36 && n != 35 {
				t.Errorf("%d attempts to keep a reply of 35", n)
			}
			store.fails(nil)
			h.follow(10)
			if n := reported(); n != 0 {
				t.Errorf("reported %d times that the store is full, which works", n)
			}
			if saved := store.took(); count(saved, "checkpoint") != 1 ||
				count(saved, "reply") != 10 {
				t.Errorf("saved %v, want a checkpoint and 10 replies", saved)
			}
		}
		h.announce()
		h.agrees(d, h.last())
		store.fails(full, "checkpoint")
		h.follow(1)
		d.stop() // the store cannot keep the state
	})
}

// The reply is in the store before the device sends it. A restarted device sends the same bytes,
// without calling the loss.
func TestReplyIsKept(t *testing.T) {
	{
		bubble(t, func(t *testing.T) {
			h, store, o := newHost(t, testPlan(small)), newStore(t), newMoody(t)
			d := h.device("d0", o, with(store))
			h.round()
			early := 0
			store.saves = func(item string) {
				h.mu.Lock()
				defer h.mu.Unlock()
				if item == "reply" && len(h.replies) == 0 {
					early++
				}
			}
			h.announce()
			first := h.one(wire.Contribution)
			if early != 1 {
				t.Errorf("the reply was kept %d times before it was sent, want once", early)
			}
			store = d.killed(store)
			calls := o.calls.Load()
			o.mood = func(_ context.Context, _ []float32) (float64, error) {
				return 5, nil
			} // a second call would give another loss
			d = h.device("d0", o, with(store))
			for _, edit := range []func(*wire.Announcement){
				func(*wire.Announcement) {},
				func(a *wire.Announcement) { a.Attempt = 3 },
				func(a *wire.Announcement) { a.Epoch = 7 },
			} {
				h.announce(edit)
				if again := h.one(wire.Contribution); string(again.frame) != string(first.frame) {
					t.Errorf("got\n%x, before the restart\n%x", again.frame, first.frame)
				}
			}
			if n := o.calls.Load() - calls; n != 0 {
				t.Errorf("%d callbacks, want none", n)
			}
			h.announce(func(a *wire.Announcement) { a.Epoch = 7; a.Perturbations++ })
			if r := h.one(wire.Contribution); r.Values.Len() != 3 {
				t.Errorf("%d scalars for another question", r.Values.Len())
			}
		})
	}
}

// damages are ways to damage a file.
func damages() map[string]func([]byte) []byte {
	return map[string]func([]byte) []byte{
		"empty":     func([]byte) []byte { return nil },
		"torn":      func(b []byte) []byte { return b[:len(b)-1] },
		"head only": func(b []byte) []byte { return b[:20] },
		"longer":    func(b []byte) []byte { return append(b, 0) },
		"huge":      func(b []byte) []byte { return append(b, make([]byte, 1<<20)...) },
	}
}

// The client sets aside a stored reply that is damaged or not this device's, and computes a new
// reply.
func TestUnusableReply(t *testing.T) {
	damage := damages()
	bubble(t, func(t *testing.T) {
		h, store := newHost(t, testPlan(small)), newStore(t)
		d := h.device("d0", bowlLoss(small, 0), with(store))
		h.device("d1", bowlLoss(small, 0)).stop()
		h.announce()
		want := h.one(wire.Contribution)
		d.stop()
		file := store.get("reply")
		for i := range file {
			damage[fmt.Sprint("byte ", i)] = func(b []byte) []byte { b[i] ^= 4; return b }
		}
		for name, f := range damage {
			store.put("reply", f(slices.Clone(file)))
			delete(store.aside, "reply")
			d := h.device("d0", bowlLoss(small, 0), with(store))
			if !store.isAside("reply") {
				t.Errorf("%s: not set aside", name)
			}
			h.announce()
			if r := h.one(wire.Contribution); string(r.frame) != string(want.frame) {
				t.Errorf("%s: got %x, want %x", name, r.frame, want.frame)
			}
			d.stop()
		}
		store.put("reply", file)
		delete(store.aside, "reply")
		h.device("d1", bowlLoss(small, 0), with(store))
		if !store.isAside("reply") {
			t.Error("another device's reply was taken")
		}
	})
}

// A decline of the next record does not replace the contribution to this one, in case the log
// loses its tail.
func TestDeclineKeepsTheContribution(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h, store := newHost(t, testPlan(small)), newStore(t)
		calls, fail := 0.0, false
		h.device("d0", objective.Func(small,
			func(context.Context, []float32, objective.Batch) (float64, error) {
				if fail {
					return 0, errors.New("no")
				}
				calls++
				return calls * calls, nil
			}), with(store))

		h.follow(3)
		h.announce()
		was := h.one(wire.Contribution)
		n := h.last()
		h.commit()
		fail = true
		h.announce()
		h.one(wire.Decline)
		fail = false
		h.cut(n, 2)
		for range 3 {
			h.announce()
		}
		pass(time.Minute)
		h.announce()
		for _, r := range h.take() {
			if r.Kind == wire.Contribution && r.N == was.N && r.Tip == was.Tip &&
				string(r.frame) != string(was.frame) {
				t.Fatalf("record %d: got other bytes, want those of the first reply", r.N)
			}
		}
	})
}
