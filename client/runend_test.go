package client_test

import (
	"testing"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/internal/subjects"
	"github.com/zofl/zofl/wire"
)

// Run ends when the run ends, and a second Run has nothing to do.
func TestEnd(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHost(t, testPlan(small))
		d := h.device("d0", bowlLoss(small, 0))
		h.round()
		old := h.announcement()
		h.end()
		a := h.announcement()
		a.State = wire.Ended
		h.publish(subjects.Announce(runName, 0), a.Append(nil))
		h.publish(subjects.Announce(runName, 0), old.Append(nil)) // delayed
		if err := d.result(); err != nil {
			t.Errorf("Run returned %v", err)
		}
		if p := d.now(); p.State != client.Ended || p.N != h.last() {
			t.Errorf("got progress %+v, want ended", p)
		}
		h.agrees(d, h.last())
		h.take()
		d.run()
		if err := d.result(); err != nil {
			t.Errorf("second Run returned %v", err)
		}
		if p := d.now(); p.State != client.Ended {
			t.Errorf("got progress %+v, want ended", p)
		}
		h.silent()
	})
}

// After the run's end, a device ignores a false announcement that opens a round.
func TestEndWithOpenRound(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHost(t, testPlan(small))
		d := h.device("d0", bowlLoss(small, 0))
		h.end()
		h.announce()
		if err := d.result(); err != nil {
			t.Errorf("Run returned %v", err)
		}
		h.silent()
	})
}

// If a coordinator ends the run and disappears before a reference proves a snapshot, the device
// keeps its state.
func TestEndUnproven(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h, store := newHost(t, digestPlan()), newStore(t)
		for range 40 {
			h.commit()
		}
		h.library(32)
		d := h.device("d0", bowlLoss(small, 0), horizon, with(store))
		h.announce()
		h.agrees(d, 41)
		h.answers(func(bus.Message) bool { return true }) // the coordinator is gone
		h.end()
		h.announce(func(a *wire.Announcement) { a.State = wire.Ended })
		pass(10 * time.Minute)
		n, _ := d.Params(make([]float32, small))
		if n < 41 {
			t.Errorf("got the state after record %d, want that after 41 of 42", n)
		}
	})
}
