package client_test

import (
	"context"
	"errors"
	"testing"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// A device answers a repeated announcement with the same bytes, in every attempt and after a
// restart of the coordinator. The device does not call the loss again.
func TestRepeatedAnnouncement(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h, o := newHost(t, testPlan(small)), newMoody(t)
		h.device("d0", o)
		h.announce()
		first := h.one(wire.Contribution)
		calls := o.calls.Load()
		for _, edit := range []func(*wire.Announcement){
			func(*wire.Announcement) {},
			func(a *wire.Announcement) { a.Left = 1 },
			func(a *wire.Announcement) { a.Attempt = 5 },
			func(a *wire.Announcement) { a.Epoch, a.Attempt = 9, 0 },
		} {
			h.announce(edit)
			if again := h.one(wire.Contribution); string(again.frame) != string(first.frame) {
				t.Errorf("got\n%x, first\n%x", again.frame, first.frame)
			}
		}
		if n := o.calls.Load(); n != calls {
			t.Errorf("%d callbacks for repeated announcements", n-calls)
		}
	})
}

// If a round is announced again with another step size or number of perturbations, the first reply
// does not answer it.
func TestAnnouncedOtherwise(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := testPlan(small)
		p.Steps = 2
		h := newHost(t, p)
		h.device("d0", bowlLoss(small, 0))
		h.announce()
		first := h.one(wire.Contribution)
		h.announce(func(a *wire.Announcement) { a.Perturbations++ })
		if r := h.one(wire.Contribution); r.Values.Len() != 6 {
			t.Errorf("%d scalars for 2 steps of 3 perturbations", r.Values.Len())
		}
		h.announce(func(a *wire.Announcement) { a.StepSize *= 2 })
		if r := h.one(wire.Contribution); string(r.frame) == string(first.frame) {
			t.Errorf("got %x for both step sizes", r.frame)
		}
		h.announce()
		if r := h.one(wire.Contribution); string(r.frame) != string(first.frame) {
			t.Errorf("got %x for the first announcement, first %x", r.frame, first.frame)
		}
	})
}

// A step size of 0 does not move x, but the rule normalized uses the round's scalars: so devices
// work.
func TestStepZeroAnnounced(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := testPlan(small)
		p.ServerRule = plan.ServerNormalized
		h := newHost(t, p)
		h.device("d0", bowlLoss(small, 0))
		h.announce(func(a *wire.Announcement) { a.StepSize = 0 })
		h.one(wire.Contribution)
	})
}

// An announcement may be on its way while the answer to a join names the same attempt. Such an
// announcement is no repetition: the device replies once. The device replies again to a repetition.
func TestAnnouncedBesideJoin(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHost(t, testPlan(small))
		h.slots["d0"] = 0
		a := h.announcement()
		h.inForce = a.Append(nil)
		h.device("d0", bowlLoss(small, 0))
		h.one(wire.Contribution)
		h.announce()
		h.silent()
		h.announce()
		h.one(wire.Contribution)
	})
}

// A device repeats a decline within its attempt; in the next attempt it may contribute.
func TestDeclineStandsForItsAttempt(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h, o := newHost(t, testPlan(small)), newMoody(t)
		h.device("d0", o)
		o.mood = func(context.Context, []float32) (float64, error) {
			return 0, errors.New("not yet")
		}
		h.announce()
		h.declines(wire.DeclineLoss)
		o.mood = nil
		calls := o.calls.Load()
		h.announce()
		h.declines(wire.DeclineLoss)
		if n := o.calls.Load(); n != calls {
			t.Errorf("%d callbacks for a repeated announcement", n-calls)
		}
		h.announce(func(a *wire.Announcement) { a.Attempt = 1 })
		h.one(wire.Contribution)
		h.commit()
		o.mood = func(context.Context, []float32) (float64, error) {
			return 0, errors.New("not yet")
		}
		h.announce()
		h.declines(wire.DeclineLoss)
		o.mood = nil
		h.announce(func(a *wire.Announcement) { a.Epoch++ }) // the coordinator was restarted
		h.one(wire.Contribution)
	})
}
