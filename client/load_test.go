package client_test

import (
	"errors"
	"testing"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/wire"
)

// Load gives the model of an earlier process without a connection, says what it
// cannot read, and Run goes on from there without reading it again.
func TestLoad(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h, store := newHost(t, testPlan(small)), newStore(t)
		h.device("d0", bowlLoss(small, 0), with(store)).stop()
		h.follow(5)
		d := h.device("d0", bowlLoss(small, 0), with(store))
		h.announce()
		h.one(wire.Contribution)
		d.stop()
		at := h.last()

		d = h.newDevice("d0", bowlLoss(small, 0), with(store), func(c *client.Config) { c.Bus = noBus{} })
		if n, err := d.Params(make([]float32, small)); n != 0 || err != nil {
			t.Errorf("before Load: Params gives record %d, %v, want none", n, err)
		}
		for range 2 {
			if err := d.Load(); err != nil {
				t.Fatal(err)
			}
			h.agrees(d, at)
		}

		d = h.newDevice("d0", bowlLoss(small, 0), with(store))
		if err := d.Load(); err != nil {
			t.Fatal(err)
		}
		clear(store.items) // another read would find nothing
		d.run()
		h.agrees(d, at)
		h.round()
		h.announce()
		h.agrees(d, h.last())
	})
}

// A noBus panics when it is used.
type noBus struct{ bus.Bus }

// Load finds nothing without a store or in an empty one; what cannot be used is set
// aside and told.
func TestLoadFindsNothing(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHost(t, testPlan(small))
		damaged := newStore(t)
		damaged.items["checkpoint"] = []byte("no checkpoint")
		for name, edit := range map[string]func(*client.Config){
			"no store":  func(*client.Config) {},
			"an empty":  with(newStore(t)),
			"a damaged": with(damaged),
		} {
			d := h.newDevice("d0", bowlLoss(small, 0), edit)
			if err := d.Load(); err != nil {
				t.Errorf("%s: %v", name, err)
			}
			if n, _ := d.Digest(); n != 0 {
				t.Errorf("%s: the model is after record %d, want none", name, n)
			}
			told := false
			for _, p := range d.progress() {
				told = told || errors.Is(p.Err, client.ErrStore)
			}
			if told != (name == "a damaged") {
				t.Errorf("%s: told of the store: %v", name, told)
			}
		}
		if damaged.aside["checkpoint"] == nil {
			t.Error("the damaged checkpoint was not set aside")
		}
	})
}

// Load is refused while Run runs, and what the Recorder returns ends it; a later one
// works.
func TestLoadRefused(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h, store := newHost(t, testPlan(small)), newStore(t)
		d := h.device("d0", bowlLoss(small, 0), with(store))
		if err := d.Load(); !errors.Is(err, client.ErrRunning) {
			t.Errorf("while Run runs: %v, want ErrRunning", err)
		}
		d.stop()
		if err := d.Load(); err != nil {
			t.Errorf("after Run: %v", err)
		}

		store.items["checkpoint"] = []byte("no checkpoint")
		enough := errors.New("enough")
		d = h.newDevice("d0", bowlLoss(small, 0), with(store), func(c *client.Config) {
			c.Recorder = client.RecorderFunc(func(client.Progress) error { return enough })
		})
		if err := d.Load(); !errors.Is(err, enough) {
			t.Errorf("got %v, want what the Recorder returned", err)
		}
		if err := d.Load(); err != nil {
			t.Errorf("again: %v, want nil: the checkpoint is set aside", err)
		}
	})
}

// A checkpoint of a run with another key is an error of Load, and kept.
func TestLoadOtherKey(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h, store := newHost(t, testPlan(small)), newStore(t)
		d := h.device("d0", bowlLoss(small, 0), with(store))
		h.round()
		d.stop()
		d = h.newDevice("d0", bowlLoss(small, 0), with(store), func(c *client.Config) { c.RunKey = make([]byte, 32) })
		if err := d.Load(); !errors.Is(err, wire.ErrRunKey) {
			t.Errorf("got %v, want ErrRunKey", err)
		}
		if store.items["checkpoint"] == nil {
			t.Error("the checkpoint is gone")
		}
	})
}
