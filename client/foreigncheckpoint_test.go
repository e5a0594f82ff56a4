package client_test

import (
	"bytes"
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/replica"
)

// reading returns an edit that gives the initial parameters piece by piece, or an error.
func reading(x []float32, err error) func(*client.Config) {
	return func(c *client.Config) {
		c.Initial, c.ReadInitial = nil, func(dst []float32) error {
			copy(dst, x)
			return err
		}
	}
}

// A client with a wrong run, dim or initial parameters ends, and leaves every item of the store as
// it is, because the checkpoint may be the only copy of a model. With the right values, the client
// has that model, without a coordinator.
func TestForeignCheckpoint(t *testing.T) {
	given, other := make([]float32, small), make([]float32, small)
	other[3] = 1
	start := func(x []float32) func(*client.Config) {
		return func(c *client.Config) { c.Initial = x }
	}
	for _, tt := range []struct {
		name  string
		dim   int
		edit  func(*client.Config)
		match error
		says  string
	}{
		{"run", small, func(c *client.Config) { c.Run, c.Initial = "else", given },
			replica.ErrForeign, `of run "t", this replica of "else"`},
		{"dim", 7, start(given[:7]), replica.ErrDim, "the file has 100, this model 7"},
		{"other initial", small, start(other), replica.ErrInitial, "initial"},
		{"others read", small, reading(other, nil), replica.ErrInitial, "digest"},
		{"none can be read", small, reading(nil, errors.New("the disk is gone")),
			replica.ErrInitial, "the disk is gone"},
		{"no initial", small, start(nil), replica.ErrInitial, "this device has none: give those"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				plan := testPlan(small)
				give(plan, given)
				h, store := newHost(t, plan), newStore(t)
				h.initial = given
				d := h.device("d0", bowlLoss(small, 0), with(store), start(given))
				h.follow(5)
				h.announce()
				d.stop()
				before, at := maps.Clone(store.items), h.last()

				wrong := h.newDevice("d0", bowlLoss(tt.dim, 0), with(store), tt.edit)
				for what, call := range map[string]func() error{
					"Load": wrong.Load,
					"Run":  func() error { wrong.run(); return wrong.result() },
				} {
					if err := call(); !errors.Is(err, replica.ErrForeign) ||
						!errors.Is(err, tt.match) || !strings.Contains(err.Error(), tt.says) ||
						!strings.Contains(err.Error(), "a store of its own") {
						t.Errorf("%s returned %v, want %v that says %q", what, err, tt.match, tt.says)
					}
				}
				if len(store.aside) > 0 || !maps.EqualFunc(store.items, before, bytes.Equal) {
					t.Errorf("%d items were set aside; the others changed: %v", len(store.aside),
						!maps.EqualFunc(store.items, before, bytes.Equal))
				}

				right := h.newDevice("d0", bowlLoss(small, 0), with(store), start(given),
					func(c *client.Config) { c.Bus = noBus{} })
				if err := right.Load(); err != nil {
					t.Fatal(err)
				}
				h.agrees(right, at)
			})
		})
	}
}
