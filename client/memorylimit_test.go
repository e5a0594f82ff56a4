package client_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/internal/footprint"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/wire"
)

// poison edits p into a valid plan that needs gigabytes and has the same number of parameters.
func poison(p *plan.Plan) {
	surrogatePlan(p)
	p.Features, p.Window = plan.MaxFeatures, plan.MaxWindow
}

// limited sets MemoryLimit.
func limited(bytes uint64) func(*client.Config) {
	return func(c *client.Config) { c.MemoryLimit = bytes }
}

// allocated returns the bytes of the heap that f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// If a plan needs more than the limit, Run ends before the client allocates memory or takes a slot.
// The default limit has the same effect, also on a passive replica.
func TestPoisonPlan(t *testing.T) {
	large := func(p *plan.Plan) { *p = *testPlan(1 << 30) }
	for _, tt := range []struct {
		name, says string
		edit       func(*plan.Plan)
		passive    bool
	}{
		{"features", "plan: window = 8192: the plan needs ", poison, false},
		{"dim of a witness", "plan: dim = 1073741824: the plan needs ", large, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				pl := densePlan(small)
				tt.edit(pl)
				h := newHost(t, pl)
				var known []wire.Known
				h.plansFirst(&known)
				cfg := client.Config{Bus: h.bus, Run: runName, ID: "d0"}
				if tt.passive {
					cfg.Passive = &client.Passive{}
				} else {
					cfg.Objective = bowlLoss(small, 0)
				}
				c, err := client.New(cfg)
				if err != nil {
					t.Fatal(err)
				}
				n := allocated(func() { err = c.Run(t.Context()) })
				var fault *plan.Error
				if !errors.Is(err, client.ErrPlan) || !errors.As(err, &fault) ||
					!strings.Contains(err.Error(), tt.says) ||
					!strings.Contains(err.Error(), "raise MemoryLimit") {
					t.Errorf("Run: %v, want ErrPlan that says %q", err, tt.says)
				}
				if len(h.slots) != 0 || n > 4<<20 {
					t.Errorf("slots %v and %d bytes, want no slot and next to no memory", h.slots, n)
				}
			})
		})
	}
}

// If a change needs more than the limit for minutes, Run ends at the record before the change. The
// device sends a goodbye, and keeps its checkpoint for a larger limit.
func TestPoisonChange(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := densePlan(small)
		surrogatePlan(p)
		h, store := newHost(t, p), newStore(t)
		need := footprint.Bytes(p, footprint.Device{Flat: true, Workers: 1})
		one := func(c *client.Config) { c.Workers = 1 }
		d := h.device("d0", bowlLoss(small, 0), with(store), one, limited(need))
		h.announce()
		h.agrees(d, h.last())
		change := plan.Change{}
		for _, field := range []string{"active", "candidates"} {
			if err := planfile.SetChange(&change, field, "4096"); err != nil {
				t.Fatal(err)
			}
		}
		h.append(wire.Record{Kind: wire.KindChange, Change: &change})
		err := d.finalWhile(func() { h.announce() })
		if !errors.Is(err, client.ErrPlan) ||
			!strings.Contains(err.Error(), "plan: active = 4096: ") {
			t.Errorf("Run: %v, want ErrPlan because of active", err)
		}
		if len(h.goodbyes) != 1 {
			t.Errorf("goodbyes %v, want one", h.goodbyes)
		}
		d = h.device("d0", bowlLoss(small, 0), with(store), one, limited(need-1))
		if err := d.result(); !errors.Is(err, client.ErrPlan) || store.isAside("checkpoint") {
			t.Errorf("Run: %v, want ErrPlan, and the checkpoint where it was", err)
		}
	})
}

// The limit counts what the objective needs: a flat vector only for a flat loss.
func TestMemoryLimitOfForms(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h := newHost(t, testPlan(small))
		const need = 4*4096 + 4*small // a block, and the parameters
		stream := objective.Stream(small, func(context.Context, *objective.Point,
			objective.Batch) (float64, error) {
			return 1, nil
		})
		one := func(c *client.Config) { c.Workers = 1 }
		d := h.device("d0", stream, one, limited(need))
		h.announce()
		h.agrees(d, h.last())
		for _, tt := range []struct {
			o     objective.Objective
			limit uint64
		}{{stream, need - 1}, {bowlLoss(small, 0), need}} {
			d := h.device("d1", tt.o, one, limited(tt.limit))
			if err := d.final(); !errors.Is(err, client.ErrPlan) {
				t.Errorf("%T with a limit of %d bytes: %v, want ErrPlan", tt.o, tt.limit, err)
			}
		}
	})
}
