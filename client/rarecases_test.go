package client_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// A coordinator that restarted may have lost a member with the tail of its log. The device asks
// for its slot again, although rounds go on without it.
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

// An abandoned download takes no memory once the records are there.
func TestAbandonedDownload(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const dim = 90_000
		p := testPlan(dim)
		p.DigestEvery, p.Distribution, p.Perturbations = 8, plan.Rademacher, 1
		h := newHost(t, p)
		for range 40 {
			h.commit()
		}
		l := h.library(32)
		l.edit = func(q wire.SnapshotRequest, _ *wire.SnapshotReply) bool {
			return q.Offset < 3*(wire.MaxFrame-128)
		}
		d := h.device("d0", null(dim), horizon)
		h.announce()
		pass(2 * time.Minute)
		for range 50 {
			h.announce()
			pass(time.Minute)
			h.commit()
		}
		h.agrees(d, h.last()-1)
		if d.Downloading() {
			t.Error("50 rounds after the catch-up: got a partial download, want none")
		}
	})
}

// A wrong reference makes a device replay once, however often it comes between right ones.
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

// A device that keeps disagreeing writes no more checkpoints than others.
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

// Two coordinators of one run with different plans, which answer in turn, do not make a device
// spin.
func TestTwoPlansTakeTurns(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHost(t, testPlan(small))
		other := testPlan(small)
		other.Mu = 0.5
		r := wire.Record{N: 1, Prev: wire.Genesis(runName), Epoch: 1, Kind: wire.KindPlan,
			Plan: other}
		plan2 := r.Append(nil)
		joins := 0
		stop := make(chan struct{})
		h.answers(func(m bus.Message) bool {
			if _, err := wire.DecodeJoinRequest(m.Data); err != nil {
				return false
			}
			if joins++; joins == 2000 {
				close(stop)
			}
			if joins%2 == 0 {
				reply := wire.JoinReply{Slot: 0, Last: 1, Plan: plan2}
				h.publish(m.Reply, reply.Append(nil))
				return true
			}
			return joins > 2000
		})
		began := time.Now()
		d := h.newDevice("d0", bowlLoss(small, 0))
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() { done <- d.Run(ctx) }()
		select {
		case <-stop:
			t.Errorf("2000 joins in %v", time.Since(began))
		case <-time.After(time.Minute):
		}
		cancel()
		<-done
	})
}

// If a coordinator ends the run and disappears before a snapshot is proven, the device keeps
// its state.
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
