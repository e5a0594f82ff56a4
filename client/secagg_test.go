package client_test

import (
	"testing"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/secagg"
)

// TestOutJoinsAgain: with secure=sum, a device that the coordinator believes to be away can send
// nothing that shows that the device is back. So the device joins again, after a while.
func TestOutJoinsAgain(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := testPlan(small)
		p.Secure, p.Members, p.Target, p.Quorum, p.MaxScalar = 1, 4, 4, 3, 100
		h := newHost(t, p)
		h.slots = map[string]uint32{"a": 0, "b": 1, "c": 2}
		h.device("d0", bowlLoss(small, 0))
		attempt := uint32(0)
		announce := func(out ...byte) (joins int) {
			before := h.joined()
			for range 10 {
				attempt++
				h.announce(func(a *wire.Announcement) {
					a.Attempt, a.Rest = attempt, secagg.Tail(nil, out)
				})
				pass(5 * time.Second)
			}
			return h.joined() - before
		}
		if joins := announce(0b0100); joins != 0 {
			t.Errorf("another device is out: %d joins, want none", joins)
		}
		if joins := announce(0b1000); joins < 2 || joins > 9 {
			t.Errorf("out of 10 attempts in 50 s: %d joins, want some", joins)
		}
		h.silent()
	})
}

// TestVainJoinIsRepeated: a device got no answer when it asked how far the run is. The device asks
// again once the coordinator announces something, because the coordinator may believe that the
// device is gone.
func TestVainJoinIsRepeated(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHost(t, testPlan(small))
		d := h.device("d0", bowlLoss(small, 0))
		d.stop()
		h.answers(func(bus.Message) bool { return true }) // the host drops requests
		d.run()
		pass(time.Minute)
		h.answers(nil)
		before := h.joined()
		h.repeat(5*time.Second, time.Minute, paused)
		if joins := h.joined() - before; joins != 1 {
			t.Errorf("%d joins in a minute, want one", joins)
		}
	})
}
