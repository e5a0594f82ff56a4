package client_test

import (
	"context"
	"errors"
	"testing"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// Load provides the model of an earlier process without a connection, and reports what it cannot
// read. Run continues from that model without reading the store again.
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

		d = h.newDevice("d0", bowlLoss(small, 0), with(store),
			func(c *client.Config) { c.Bus = noBus{} })
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
		clear(store.items) // otherwise a second read would find the items
		d.run()
		h.agrees(d, at)
		h.round()
		h.announce()
		h.agrees(d, h.last())
	})
}

// A noBus panics on use.
type noBus struct{ bus.Bus }

// Load finds nothing without a store or in an empty store. Load sets an unusable item aside and
// reports it.
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
			reported := false
			for _, p := range d.progress() {
				reported = reported || errors.Is(p.Err, client.ErrStore)
			}
			if reported != (name == "a damaged") {
				t.Errorf("%s: a fault of the store was reported: %v, want %v",
					name, reported, !reported)
			}
		}
		if damaged.aside["checkpoint"] == nil {
			t.Error("the damaged checkpoint was not set aside")
		}
	})
}

// A sharedStore is a store that another client of the device used since.
type sharedStore struct {
	*memStore
	changed bool
}

func (s *sharedStore) Changed() bool {
	changed := s.changed
	s.changed = false
	return changed
}

// After another client of the device used the store, this client trusts the store and not its own
// memory. Load and Run both do so. Run does not take the other client's checkpoint for a damaged
// checkpoint.
func TestLoadAfterAnother(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h, store := newHost(t, testPlan(small)), newStore(t)
		shared := &sharedStore{memStore: store}
		one := h.newDevice("d0", bowlLoss(small, 1), func(c *client.Config) { c.Store = shared })
		other := h.newDevice("d0", bowlLoss(small, 0), with(store))
		kept := reply{}
		for range 2 {
			other.run()
			h.round()
			h.announce()
			kept = h.one(wire.Contribution)
			other.stop()
			shared.changed = true
			if err := one.Load(); err != nil {
				t.Fatal(err)
			}
			h.agrees(one, h.last())
		}
		one.run()
		h.announce()
		if got := h.one(wire.Contribution); got.Loss != kept.Loss {
			t.Errorf("sends a loss of %v for what the store has a contribution to, of %v",
				got.Loss, kept.Loss)
		}
		h.round()
		h.announce()
		h.agrees(one, h.last())
		one.stop()
		if len(store.aside) > 0 {
			t.Errorf("%d items were set aside", len(store.aside))
		}
	})
}

// A device whose disk is full sends the contribution that it sent before, and not an earlier
// contribution from the store. The device does so even after another client of the device used the
// store.
func TestContributionNotKeptAfterAnother(t *testing.T) {
	for _, p := range []*plan.Plan{testPlan(small), densePlan(small)} {
		bubble(t, func(t *testing.T) {
			h, asked := newHost(t, p), 0.0
			shared := &sharedStore{memStore: newStore(t)}
			fickle := objective.Func(small,
				func(context.Context, []float32, objective.Batch) (float64, error) {
					asked++
					return asked, nil
				})
			d := h.device("d0", fickle, func(c *client.Config) { c.Store = shared })
			if p.Transport == plan.DenseVectors {
				h.denseRound()
			} else {
				h.round()
			}
			shared.full["reply"], shared.full["upload"] = errors.New("disk full"),
				errors.New("disk full")
			h.announce()
			first := h.contribution()
			d.stop()
			shared.changed = true
			d.run()
			h.restart()
			h.announce()
			if again := h.contribution(); again != first {
				t.Errorf("%v: sends %v, and sent %v before", p.Transport, again, first)
			}
			d.stop()
		})
	}
}

// A client does not offer a snapshot that another client of the store set aside.
func TestSnapshotAfterAnother(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h, shared := newHost(t, testPlan(small)), &sharedStore{memStore: newStore(t)}
		d := h.device("w", nil, func(c *client.Config) {
			c.Store, c.Passive = shared, &client.Passive{SnapshotEvery: 2}
		})
		h.commit()
		h.announce()
		if offer := h.ask(wire.SnapshotRequest{}); offer.N != 2 {
			t.Fatalf("offers a snapshot after record %d, want 2", offer.N)
		}
		d.stop()
		if err := shared.SetAside("snapshot"); err != nil {
			t.Fatal(err)
		}
		shared.changed = true
		d.run()
		if offer := h.ask(wire.SnapshotRequest{}); offer.N != 0 {
			t.Errorf("offers a snapshot after record %d, and there is none", offer.N)
		}
		d.stop()
	})
}

// Load is refused while Run is running. An error of the Recorder ends Load, and a later Load works.
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

// Load fails on a checkpoint made with another key, and keeps it.
func TestLoadOtherKey(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h, store := newHost(t, testPlan(small)), newStore(t)
		d := h.device("d0", bowlLoss(small, 0), with(store))
		h.round()
		d.stop()
		d = h.newDevice("d0", bowlLoss(small, 0), with(store),
			func(c *client.Config) { c.RunKey = make([]byte, 32) })
		if err := d.Load(); !errors.Is(err, plan.ErrRunKey) {
			t.Errorf("got %v, want ErrRunKey", err)
		}
		if store.items["checkpoint"] == nil {
			t.Error("the checkpoint is gone")
		}
	})
}
