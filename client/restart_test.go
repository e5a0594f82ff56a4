package client_test

import (
	"slices"
	"testing"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// follow commits and announces records that other devices made.
func (h *host) follow(records int) {
	for range records {
		h.commit()
		h.announce()
	}
	h.take()
}

// A device that was stopped continues from its checkpoint in another process, also after rollbacks.
// The device takes part as before.
func TestRestartGoesOn(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := testPlan(small)
		p.Rule, p.Beta = plan.TorchMomentum, 0.5
		h, store := newHost(t, p), newStore(t)
		d := h.device("d0", bowlLoss(small, 0), with(store))
		for range 7 {
			h.round()
		}
		h.append(wire.Record{Kind: wire.KindRollback, To: 5})
		h.follow(2)
		d.stop()
		at := h.last()
		h.follow(3)
		h.asked()
		d = h.device("d0", bowlLoss(small, 0), with(store))
		if n, err := d.Params(make([]float32, small)); n != at || err != nil {
			t.Errorf("Params after the restart: record %d, %v, want %d", n, err, at)
		}
		h.announce()
		h.one(wire.Contribution)
		h.agrees(d, h.last())
		if asked := h.asked(); !slices.Equal(asked, []uint64{at + 1}) {
			t.Errorf("asked for records %v, want %d on", asked, at+1)
		}
		h.append(wire.Record{Kind: wire.KindRollback,
			To: at - 1}) // a rollback after the one that the first process saw
		h.announce()
		h.agrees(d, h.last())
		if asked := h.asked(); !slices.Equal(asked, []uint64{2}) {
			t.Errorf("asked for records %v, want one pass from 2 on", asked)
		}
	})
}

// A restarted device has its state, but takes no part until a coordinator gives it a slot.
func TestRestartWithoutSlot(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h, store := newHost(t, testPlan(small)), newStore(t)
		h.device("d0", bowlLoss(small, 0)).stop()
		d := h.device("d1", bowlLoss(small, 0), with(store))
		h.follow(3)
		d.stop()
		h.answers(func(m bus.Message) bool {
			_, err := wire.DecodeJoinRequest(m.Data)
			return err == nil
		})
		d = h.device("d1", bowlLoss(small, 0), with(store))
		h.announce()
		h.silent()
		pass(time.Minute)
		if p := d.now(); p.State != client.Joining || p.N != h.last() || p.Err == nil {
			t.Errorf("progress %+v, want joining after record %d", p, h.last())
		}
		h.answers(nil)
		pass(time.Minute)
		h.announce()
		h.one(wire.Contribution)
	})
}

// If a device has the end of a run, the run is over for the device with or without a coordinator,
// unless the coordinator has another log.
func TestRestartAfterTheEnd(t *testing.T) {
	for _, other := range []bool{false, true} {
		bubble(t, func(t *testing.T) {
			h, store := newHost(t, testPlan(small)), newStore(t)
			d := h.device("d0", bowlLoss(small, 0), with(store))
			kept := newStore(t)
			w := h.passive("w", kept, 0)
			h.follow(3)
			h.end()
			h.announce(func(a *wire.Announcement) { a.State = wire.Ended })
			if err := d.result(); err != nil {
				t.Fatal(err)
			}
			if other {
				had := h.last()
				h.cut(2, 2)
				d = h.device("d0", bowlLoss(small, 0), with(store))
				w = h.passive("w", kept, 0)
				pass(time.Minute)
				if n, _ := d.Digest(); n != had || d.now().State != client.Paused {
					t.Errorf("the device is at record %d, and had %d", n, had)
				}
				h.accept()
				pass(time.Minute)
				h.announce()
				h.one(wire.Contribution)
				h.agrees(d, h.last())
				h.agrees(w, h.last())
				return
			}
			for _, answers := range []bool{true, false} {
				h.answers(func(bus.Message) bool { return !answers })
				d = h.device("d0", bowlLoss(small, 0), with(store))
				pass(5 * time.Second)
				if err := d.result(); err != nil {
					t.Errorf("answers %v: Run returned %v", answers, err)
				}
				w = h.passive("w", kept, 0)
				pass(5 * time.Second)
				if err := w.result(); err != nil {
					t.Errorf("answers %v: Run of a passive replica returned %v", answers, err)
				}
				if p := d.now(); p.State != client.Ended || p.N != h.last() {
					t.Errorf("answers %v: progress %+v, want ended", answers, p)
				}
			}
		})
	}
}
