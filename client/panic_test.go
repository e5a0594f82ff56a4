package client_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/wire"
)

// A panic of Run may leave a state half-way: that is neither kept nor gone on from.
// The next Run begins with the last checkpoint.
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

		panicked := make(chan any, 1)
		go func() {
			defer func() { panicked <- recover() }()
			d.Run(context.Background())
		}()
		synctest.Wait()
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
			t.Error("the state that a panic left was kept")
		}
		fragile = false
		d.run()
		h.announce()
		h.one(wire.Contribution)
		h.agrees(d, h.last())
	})
}

// After a panic a device sends the reply that it sent before, whether it has a store or
// not.
func TestReplyAfterPanic(t *testing.T) {
	for _, stored := range []bool{false, true} {
		bubble(t, func(t *testing.T) {
			h, asked := newHost(t, testPlan(small)), 0.0
			fickle := client.Func(small, func(context.Context, []float32, client.Batch) (float64, error) {
				asked++
				return asked, nil
			})
			fragile := false
			d := h.newDevice("d0", fickle, func(c *client.Config) {
				if stored {
					c.Store = newStore(t)
				}
				record := c.Recorder
				c.Recorder = client.RecorderFunc(func(p client.Progress) error {
					if fragile && p.Contributed {
						panic("oh")
					}
					return record.Record(p)
				})
			})
			h.commit()
			fragile = true
			panicked := make(chan any, 1)
			go func() {
				defer func() { panicked <- recover() }()
				d.Run(context.Background())
			}()
			synctest.Wait()
			h.announce()
			if p := <-panicked; p != "oh" {
				t.Fatalf("recovered %v", p)
			}
			first := h.one(wire.Contribution)
			fragile = false
			d.run()
			h.announce()
			if again := h.one(wire.Contribution); again.Loss != first.Loss {
				t.Errorf("store %v: sends a loss of %v, and sent %v before", stored, again.Loss, first.Loss)
			}
			d.stop()
		})
	}
}
