package client_test

import (
	"bytes"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/wire"
)

// stateIn returns the replica of a state file that a device saved, and nil if there is none.
func stateIn(t *testing.T, h *host, s *memStore, item string) *replica.Replica {
	t.Helper()
	b := s.get(item)
	if len(b) == 0 {
		return nil
	}
	r, _, err := replica.Load(replica.Config{Run: h.plan.Run}, bytes.NewReader(b), int64(len(b)))
	if err != nil {
		t.Fatalf("%s: %v", item, err)
	}
	return r
}

// trained returns a run of some rounds, and a device with a store that has followed them.
func trained(t *testing.T, rounds int, edits ...func(*client.Config)) (*host, *memStore, *device) {
	t.Helper()
	h, store := newHost(t, testPlan(small)), newStore(t)
	d := h.device("d0", bowlLoss(small, 0), append(edits, with(store))...)
	for range rounds {
		h.round()
	}
	h.announce()
	h.agrees(d, h.last())
	h.take()
	return h, store, d
}

// loseTail makes the log lose the records after record keep and gain another record. The device
// follows the log.
func (h *host) loseTail(d *device, keep, epoch uint64) {
	h.t.Helper()
	h.setBack(keep, epoch)
	h.announce()
	h.silent()
	h.round()
	h.announce()
	h.agrees(d, h.last())
}

// outgrow makes the run grow longer than record last, and the device follows.
func (h *host) outgrow(d *device, last uint64) {
	h.t.Helper()
	for h.last() <= last {
		h.round()
	}
	h.announce()
	h.agrees(d, h.last())
}

// If a run ended otherwise than a device knew, the device may have the last copy of the run's
// model. The device keeps that model beside the new run's model, across restarts and further new
// runs, until the new run is longer.
func TestModelOfTheRunBefore(t *testing.T) {
	const before = "checkpoint-before"
	bubble(t, func(t *testing.T) {
		h, store, d := trained(t, 7)
		last, model := h.last(), d.params(small)
		for epoch := range uint64(3) { // the log repeatedly loses all records except the plan
			h.loseTail(d, 1, 5+epoch)
			h.take()
			d.stop()
			kept := stateIn(t, h, store, before)
			if kept == nil || kept.N() != last || !slices.Equal(kept.Params(), model) {
				t.Fatalf("life %d: the model of the run before is not kept: %v", epoch, kept)
			}
			if r := stateIn(t, h, store, "checkpoint"); r == nil || r.N() >= last {
				t.Errorf("life %d: the checkpoint is not the new run's", epoch)
			}
			d = h.device("d0", bowlLoss(small, 0), with(store))
		}
		h.outgrow(d, last)
		d.stop()
		if len(store.get(before)) > 0 {
			t.Error("the new run is longer, and the model of the one before is still there")
		}
	})
}

// If another run takes the name of a run, nobody accepts the loss of the old run. The device keeps
// the old run's model for good, however long the new run gets.
func TestModelOfAnotherRunBefore(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h, store, d := trained(t, 7)
		last, model := h.last(), d.params(small)
		h.plan = testPlan(small)
		h.plan.RunKey = bytes.Repeat([]byte{8}, 32)
		h.cut(0, 2)
		h.append(wire.Record{Kind: wire.KindPlan, Plan: h.plan})
		pass(time.Minute)
		h.take()
		for range 2 { // in two processes
			h.outgrow(d, h.last()+last)
			d.stop()
			kept := stateIn(t, h, store, "checkpoint-before")
			if kept == nil || kept.N() != last || !slices.Equal(kept.Params(), model) {
				t.Fatalf("the model of the run before is not kept: %v", kept)
			}
			d = h.device("d0", bowlLoss(small, 0), with(store))
		}
	})
}

// If a run has a later end than the device knew, the device keeps the model that it had: after the
// end, the device cannot wait for the operator to accept the loss.
func TestModelOfTheRunBeforeALongerEnd(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h, store, d := trained(t, 7)
		last, model := h.last(), d.params(small)
		d.stop()
		h.cut(3, 5)
		for h.last() < last+3 {
			h.commit(7, 7)
		}
		h.end()
		d = h.device("d0", bowlLoss(small, 0), with(store))
		for range 3 {
			h.announce(func(a *wire.Announcement) { a.State = wire.Ended })
		}
		if err := d.result(); err != nil {
			t.Errorf("Run returned %v", err)
		}
		h.agrees(d, h.last())
		kept := stateIn(t, h, store, "checkpoint-before")
		if kept == nil || kept.N() != last || !slices.Equal(kept.Params(), model) {
			t.Errorf("the model of the run before is not kept: %v", kept)
		}
	})
}

// A device has more records than a run that has ended. The device follows to that end, and keeps
// the model that it had.
func TestModelOfTheRunBeforeAnEnd(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h, store, d := trained(t, 7)
		last, model := h.last(), d.params(small)
		d.stop()
		h.cut(3, 5)
		h.end()
		d = h.device("d0", bowlLoss(small, 0), with(store))
		for range 2 { // the device goes back on the first announcement, and joins again
			h.announce(func(a *wire.Announcement) { a.State = wire.Ended })
		}
		if err := d.result(); err != nil {
			t.Errorf("Run returned %v", err)
		}
		if p := d.now(); p.State != client.Ended {
			t.Errorf("got progress %+v, want ended", p)
		}
		h.agrees(d, h.last())
		kept := stateIn(t, h, store, "checkpoint-before")
		if kept == nil || kept.N() != last || !slices.Equal(kept.Params(), model) {
			t.Errorf("the model of the run before is not kept: %v", kept)
		}
	})
}

// If the store has no room for the old run's model beside the new run's checkpoint, the device
// keeps the old checkpoint until the new run is longer.
func TestModelOfTheRunBeforeHasNoRoom(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h, store, d := trained(t, 7, func(c *client.Config) { c.CheckpointEvery = 1 })
		last := h.last()
		store.fails(errors.New("no space left on device"), "checkpoint-before")
		h.loseTail(d, 1, 5)
		if r := stateIn(t, h, store, "checkpoint"); r == nil || r.N() != last {
			t.Error("the last copy of the model is overwritten")
		}
		h.take()
		h.outgrow(d, last)
		if r := stateIn(t, h, store, "checkpoint"); r == nil || r.N() != h.last() {
			t.Error("the new run is longer, and there is no checkpoint of it")
		}
	})
}

// After the log lost its tail, a device goes back to its checkpoint if the log still holds the
// checkpoint's record. The device replays from there and not from record 1.
func TestRetreatToTheCheckpoint(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h, store, d := trained(t, 10, func(c *client.Config) { c.CheckpointEvery = 5 })
		at := stateIn(t, h, store, "checkpoint").N()
		if at < 2 || at >= h.last() {
			t.Fatalf("the checkpoint is of record %d of %d", at, h.last())
		}
		h.asked()
		h.loseTail(d, at, 5)
		for _, n := range h.asked() {
			if n < at {
				t.Errorf("it asked for record %d, and its checkpoint is of record %d", n, at)
			}
		}
		if kept := stateIn(t, h, store, "checkpoint-before"); kept == nil || kept.N() != 11 {
			t.Error("the model with the lost records is not kept")
		}
	})
}
