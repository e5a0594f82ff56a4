package client_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/wire"
)

// If a repeated announcement does not name a device that has answered, the device stays silent.
func TestRepetitionNamesTheMissing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHost(t, testPlan(small))
		h.device("d0", bowlLoss(small, 0))
		h.announce()
		first := h.one(wire.Contribution)
		naming := func(slots ...uint32) func(*wire.Announcement) {
			return func(a *wire.Announcement) {
				m, _ := wire.MissingOf(slots)
				a.Rest = wire.Tail(wire.Reference{}, m, true)
			}
		}
		for _, slots := range [][]uint32{{}, {1}, {3, 7}} {
			h.announce(naming(slots...))
			h.silent()
		}
		for _, edit := range []func(*wire.Announcement){
			naming(0), naming(0, 5), func(*wire.Announcement) {},
			func(a *wire.Announcement) { a.Rest = []byte{0x90, 0x91, 0xc4, 1} },
		} {
			h.announce(edit)
			if r := h.one(wire.Contribution); string(r.frame) != string(first.frame) {
				t.Errorf("the repeated reply is\n%x, the first was\n%x", r.frame, first.frame)
			}
		}
	})
}

// plansFirst makes a host answer joins as a coordinator does: with the plan until the device has
// the plan. plansFirst notes which records devices say that they have.
func (h *host) plansFirst(known *[]wire.Known) {
	h.answers(func(m bus.Message) bool {
		r, err := wire.DecodeJoinRequest(m.Data)
		if err != nil {
			return false
		}
		k, _, ok := r.Known()
		if !ok {
			h.t.Errorf("a join does not say what the device knows: %x", m.Data)
		}
		*known = append(*known, k)
		if k.Plan == wire.HashRecord(h.records[0]).Tip() {
			return false
		}
		reply := wire.JoinReply{Status: wire.JoinPlan, Last: uint64(len(h.records)),
			Plan: h.records[0]}
		h.publish(m.Reply, reply.Append(nil))
		return true
	})
}

// A device reads the plan before it takes a slot, and names its last record when it joins again.
func TestPlanBeforeSlot(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHost(t, testPlan(small))
		var known []wire.Known
		h.plansFirst(&known)
		d := h.device("d0", bowlLoss(small, 0))
		h.round()
		h.announce()
		h.agrees(d, h.last())
		d.stop()
		d.run()
		tip := wire.HashRecord(h.records[0]).Tip()
		want := []wire.Known{{}, {Key: wire.KeyTip(h.plan), Plan: tip, N: 1, Tip: tip}}
		if len(known) < 4 || known[0] != want[0] || known[1] != want[1] {
			t.Fatalf("the device said that it knows %+v, want first %+v", known, want)
		}
		if last := known[len(known)-1]; last.N != h.last() || last.Tip != h.tip().Tip() {
			t.Errorf("a device that joins again says that it knows %+v, want record %d", last,
				h.last())
		}
	})
}

func TestNoSlotForAnotherDimension(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHost(t, testPlan(small))
		var known []wire.Known
		h.plansFirst(&known)
		c, err := client.New(client.Config{
			Bus: h.bus, Run: runName, ID: "stranger", Objective: bowlLoss(small+1, 0),
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Run(t.Context()); !errors.Is(err, replica.ErrDim) {
			t.Errorf("Run: %v, want ErrDim", err)
		}
		if len(h.slots) != 0 || len(h.goodbyes) != 0 {
			t.Errorf("slots %v, goodbyes %v, want none", h.slots, h.goodbyes)
		}
	})
}

// A device waits for a run that takes no device now, and reports the reason.
func TestJoinLater(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHost(t, testPlan(small))
		const reason = "device x has record 9"
		later := func(m bus.Message) bool {
			if _, err := wire.DecodeJoinRequest(m.Data); err != nil {
				return false
			}
			h.publish(m.Reply, (&wire.JoinReply{Status: wire.JoinLater, Reason: reason}).Append(nil))
			return true
		}
		h.answers(later)
		d := h.device("d0", bowlLoss(small, 0))
		pass(time.Minute)
		if p := d.now(); p.State != client.Paused || p.Reason != reason {
			t.Errorf("progress %+v, want a pause and why", p)
		}
		h.answers(nil)
		pass(time.Minute)
		h.round()
		h.announce()
		h.agrees(d, h.last())
		d.stop()
		h.answers(later)
		d.run()
		pass(time.Second)
		if p := d.now(); p.State != client.Paused || p.Reason != reason {
			t.Errorf("a member that returns: progress %+v, want a pause and why", p)
		}
	})
}

// While the run is paused on a log that ends before this device's record, the device keeps its
// state. The device starts over when the operator accepted the loss.
func TestPausedOnShorterLog(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHost(t, testPlan(small))
		d := h.device("d0", bowlLoss(small, 0))
		for range 3 {
			h.round()
		}
		h.announce()
		had := h.last()
		h.agrees(d, had)
		h.take()
		h.records, h.rounds, h.epoch = h.records[:1], 0, 2
		for range 5 {
			h.announce(func(a *wire.Announcement) {
				a.State, a.N, a.Reason = wire.Paused, 2, "the log was lost"
			})
		}
		if n, _ := d.Digest(); n != had {
			t.Errorf("the device is at record %d, and had %d", n, had)
		}
		if p := d.now(); p.State != client.Paused || p.Reason != "the log was lost" {
			t.Errorf("progress %+v, want a pause and why", p)
		}
		for range 60 { // whoever paused the run need not know what the log lacks
			pass(time.Second)
			h.announce(func(a *wire.Announcement) {
				a.State, a.N, a.Reason = wire.Paused, 2, "the step is wrong"
			})
		}
		h.holdsOn(d, had)
		h.silent()
		for range 4 {
			h.announce()
			pass(time.Minute)
		}
		if n, _ := d.Digest(); n != had {
			t.Errorf("before a person accepted the loss, the device is at record %d, and had %d", n,
				had)
		}
		h.accept()
		for range 4 {
			h.announce()
			pass(time.Minute)
		}
		h.agrees(d, 1)
	})
}

// A device whose Run ends before the run sends a goodbye once. A device without a slot sends none.
func TestGoodbyeIsSent(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHost(t, testPlan(small))
		d := h.device("d0", bowlLoss(small, 0))
		h.round()
		d.stop()
		if len(h.goodbyes) != 1 || h.goodbyes[0] != "d0" {
			t.Errorf("goodbyes %v, want d0's", h.goodbyes)
		}
		d.run()
		h.end()
		h.announce(func(a *wire.Announcement) { a.State = wire.Ended })
		if len(h.goodbyes) != 1 {
			t.Errorf("goodbyes %v after the run's end", h.goodbyes)
		}
	})
}

// A device that keeps declining takes no part for a while, and tells the coordinator for how long.
// Each backoff is longer, up to RetryMax.
func TestBackoff(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h, o := newHost(t, testPlan(small)), newMoody(t)
		d := h.device("d0", o)
		h.round()
		o.mood = func(context.Context, []float32) (float64, error) {
			return 0, errors.New("out of memory")
		}
		last := uint64(0)
		for declines := 1; declines <= 12; declines++ {
			h.announce()
			r := h.one(wire.Decline)
			away, ok := r.Away()
			if ok != (declines > 3) {
				t.Fatalf("decline %d says how long: %v", declines, ok)
			}
			h.commit() // by other devices
			if !ok {
				continue
			}
			pause := time.Duration(away.Milliseconds) * time.Millisecond
			if p := d.now(); p.Backoff.Milliseconds() != pause.Milliseconds() {
				t.Errorf("the app was told %v, the coordinator %v", p.Backoff, pause)
			}
			h.announce()
			h.silent()
			pass(pause - 2*time.Millisecond)
			h.announce()
			h.silent()
			pass(3 * time.Millisecond)
			if pause > 30*time.Second || declines > 9 && pause < 15*time.Second ||
				declines < 8 && 4*away.Milliseconds < last {
				t.Errorf("backoff %d is of %v", declines, pause)
			}
			last = away.Milliseconds
		}
		fails := o.mood
		o.mood = nil
		h.round()
		h.announce()
		h.agrees(d, h.last())
		o.mood = fails // the loss fails again: only several declines in a row begin a backoff
		h.take()
		for range 3 {
			h.commit()
			h.announce()
			if r := h.one(wire.Decline); len(r.Rest) > 0 {
				t.Fatalf("a decline after a contribution begins a backoff: %x", r.Rest)
			}
		}
	})
}

// If rounds are short, backoffs are short, too.
func TestShortBackoff(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := testPlan(small)
		p.Deadline = 200
		h, o := newHost(t, p), newMoody(t)
		h.device("d0", o)
		h.round()
		o.mood = func(context.Context, []float32) (float64, error) {
			return 0, errors.New("out of memory")
		}
		for range 12 {
			h.announce()
			r := h.one(wire.Decline)
			if away, _ := r.Away(); away.Milliseconds > 16*200 {
				t.Errorf("a backoff of %d ms, with a deadline of 200 ms", away.Milliseconds)
			}
			h.commit()
			pass(16 * 200 * time.Millisecond)
		}
	})
}

// If a coordinator answers each join with the plan that the device has, the device does not ask in
// a busy loop.
func TestPlanAgainAndAgain(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHost(t, testPlan(small))
		h.answers(func(m bus.Message) bool {
			if _, err := wire.DecodeJoinRequest(m.Data); err != nil {
				return false
			}
			reply := wire.JoinReply{Status: wire.JoinPlan, Last: 1, Plan: h.records[0]}
			h.publish(m.Reply, reply.Append(nil))
			return true
		})
		d := h.device("d0", bowlLoss(small, 0))
		pass(10 * time.Minute)
		if h.joins < 4 || h.joins > 200 {
			t.Errorf("%d joins in ten minutes", h.joins)
		}
		h.answers(nil)
		pass(time.Minute)
		h.round()
		h.announce()
		h.agrees(d, h.last())
	})
}

// A backoff that the app's policy began ends when the policy allows work. In a paused run the
// device joins again, because the run may be waiting for it.
func TestPolicyEndsBackoff(t *testing.T) {
	for _, paused := range []bool{false, true} {
		bubble(t, func(t *testing.T) {
			h, o := newHost(t, testPlan(small)), newMoody(t)
			h.device("d0", o)
			h.round()
			o.mayWork = func(objective.Work) bool { return false }
			for range 8 {
				h.announce()
				h.declines(wire.DeclinePolicy)
				h.commit()
				pass(20 * time.Second)
			}
			h.announce()
			h.declines(wire.DeclinePolicy)
			h.commit()
			h.announce()
			h.silent()
			o.mayWork = nil
			joins := h.joins
			if paused {
				h.announce(func(a *wire.Announcement) { a.State = wire.Paused })
				h.silent()
				if h.joins != joins+1 {
					t.Errorf("%d joins, want one more than %d", h.joins, joins)
				}
			}
			h.announce()
			h.one(wire.Contribution)
		})
	}
}

// A coordinator that restarted may have lost a member with the tail of its log. The device asks for
// its slot again, although rounds go on without the device.
func TestLostSlot(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHost(t, testPlan(small))
		h.device("d0", bowlLoss(small, 0))
		d1 := h.device("d1", bowlLoss(small, 1))
		h.announce()
		if n := len(h.take()); n != 2 {
			t.Fatal(n)
		}
		h.commit()
		h.mu.Lock()
		delete(h.slots, "d1")
		h.joins = 0
		h.mu.Unlock()
		h.epoch = 2
		for range 200 {
			h.announce()
			h.take()
			h.commit()
			pass(5 * time.Second)
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		if _, ok := h.slots["d1"]; !ok {
			t.Errorf("after 200 rounds d1 has not asked for its slot: got %d joins, progress %v",
				h.joins, d1.now())
		}
	})
}
