package client_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
)

// A panic of Run may leave an inconsistent state. The client neither saves that state nor continues
// from it: the next Run begins with the last checkpoint.
func TestRunAfterPanic(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h, store := newHost(t, testPlan(small)), newStore(t)
		fragile := false
		d := h.newDevice("d0", bowlLoss(small, 0), with(store), func(c *client.Config) {
			record := c.Recorder
			c.Recorder = client.RecorderFunc(func(p client.Progress) error {
				if fragile {
					panic("oh")
				}
				return record.Record(p)
			})
		})
		d.run()
		h.round()
		h.announce()
		h.one(wire.Contribution)
		d.stop()
		kept := string(store.items["checkpoint"])

		panicked := d.panics()
		h.round()
		fragile = true
		h.announce()
		if p := <-panicked; p != "oh" {
			t.Fatalf("recovered %v", p)
		}
		if n, err := d.Params(make([]float32, small)); n != 0 || err != nil {
			t.Errorf("after the panic Params gives record %d, %v, want none", n, err)
		}
		if string(store.items["checkpoint"]) != kept {
			t.Error("the inconsistent state was saved")
		}
		fragile = false
		d.run()
		h.announce()
		h.one(wire.Contribution)
		h.agrees(d, h.last())
	})
}

// After a panic a device sends the contribution that it sent before. The device does so with a
// store, without a store, and if the store failed to save the contribution.
func TestContributionAfterPanic(t *testing.T) {
	stores := map[string]func() client.Store{
		"none": func() client.Store { return nil },
		"one":  func() client.Store { return newStore(t) },
		"full": func() client.Store {
			s := newStore(t)
			s.full["reply"], s.full["upload"] = errors.New("disk full"), errors.New("disk full")
			return s
		},
	}
	for name, store := range stores {
		for _, plan := range []*plan.Plan{testPlan(small), densePlan(small)} {
			bubble(t, func(t *testing.T) {
				h, asked := newHost(t, plan), 0.0
				fickle := objective.Func(small,
					func(context.Context, []float32, objective.Batch) (float64, error) {
						asked++
						return asked, nil
					})
				fragile := true
				d := h.newDevice("d0", fickle, func(c *client.Config) {
					c.Store = store()
					record := c.Recorder
					c.Recorder = client.RecorderFunc(func(p client.Progress) error {
						if fragile && p.Contributed {
							panic("oh")
						}
						return record.Record(p)
					})
				})
				panicked := d.panics()
				h.announce()
				if p := <-panicked; p != "oh" {
					t.Fatalf("recovered %v", p)
				}
				first := h.contribution()
				fragile = false
				d.run()
				h.restart()
				h.announce()
				if again := h.contribution(); again != first {
					t.Errorf("store: %s, %v: sends %v, and sent %v before",
						name, plan.Transport, again, first)
				}
				d.stop()
			})
		}
	}
}

// panics runs the client until it panics, and sends the value of the panic.
func (d *device) panics() (panicked chan any) {
	panicked = make(chan any, 1)
	go func() {
		defer func() { panicked <- recover() }()
		d.Run(context.Background())
	}()
	synctest.Wait()
	return panicked
}

// contribution returns the loss of the only contribution.
func (h *host) contribution() float32 {
	h.t.Helper()
	if h.plan.Transport == plan.DenseVectors {
		return h.oneVector().Loss
	}
	return h.one(wire.Contribution).Loss
}

// A passive replica whose store panics serves and writes snapshots again afterwards.
func TestSnapshotAfterPanic(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h, store := newHost(t, testPlan(small)), newStore(t)
		d := h.newDevice("w", nil, with(store),
			func(c *client.Config) { c.Passive = &client.Passive{SnapshotEvery: 2} })
		store.saves = func(item string) {
			if item == "snapshot" {
				panic("oh")
			}
		}
		panicked := d.panics()
		h.commit()
		h.announce()
		if p := <-panicked; p != "oh" {
			t.Fatalf("recovered %v", p)
		}
		store.saves = nil
		d.run()
		h.announce()
		if offer := h.ask(wire.SnapshotRequest{}); offer.N != 2 {
			t.Errorf("offers a snapshot after record %d, want 2", offer.N)
		}
		d.stop()
	})
}
