package client_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zofl/zofl/bus"
	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/valid"
	"github.com/zofl/zofl/wire"
)

// With transport=dense, devices send vectors and apply their mean, and all have the same bits.
func TestDenseRounds(t *testing.T) {
	for _, dim := range []int{small, threeDim} {
		bubble(t, func(t *testing.T) {
			h := newHost(t, densePlan(dim))
			var all []*device
			for i := range 3 {
				all = append(all, h.device(fmt.Sprintf("d%d", i), bowlLoss(dim, i)))
			}
			for range 4 {
				came := h.denseRound()
				if len(came) != 3 {
					t.Fatalf("%v arrived, want 3 vectors", came)
				}
				for _, c := range came {
					if len(c.vector) != 4*dim || c.Weight != 1 || c.N != h.last() {
						t.Errorf("got %v of weight %d", c, c.Weight)
					}
				}
				if slices.Equal(came[0].vector, came[1].vector) {
					t.Error("two devices sent the same")
				}
			}
			h.announce()
			for _, d := range all {
				h.agrees(d, h.last())
				if n, err := d.Params(make([]float32, dim)); n != h.last() || err != nil {
					t.Errorf("parameters are of record %d, %v, want %d", n, err, h.last())
				}
			}
			h.silent()
			for _, d := range all {
				reports := d.progress()
				contributed := func(p client.Progress) bool { return p.Contributed }
				i := slices.IndexFunc(reports, contributed)
				if i < 0 || reports[i].Loss == 0 {
					t.Errorf("reported %+v, want a contribution and its loss", reports)
				}
			}
		})
	}
}

// A vector may come from more scalars than a reply can hold.
func TestDenseManyScalars(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := densePlan(3)
		p.Perturbations = plan.MaxScalars/p.Steps + 1
		if err := valid.Plan(p); err != nil {
			t.Fatal(err)
		}
		h := newHost(t, p)
		d := h.device("d0", bowlLoss(3, 0))
		if came := h.denseRound(); len(came) != 1 {
			t.Errorf("%v arrived, want a vector", came)
		}
		h.announce()
		h.agrees(d, h.last())
	})
}

// A vector's weight is the objective's number of samples. A device declines as usual if its loss
// fails, and if no coordinator would accept its vector.
func TestDenseDeclines(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := densePlan(small)
		p.Weights, p.Steps = plan.BySamples, 1 // so that only the vector has large numbers
		h, o := newHost(t, p), newMoody(t)
		o.samples = func() int { return 7 }
		d := h.device("d0", o)
		if came := h.denseRound(); came[0].Weight != 7 {
			t.Errorf("weight %d, want 7", came[0].Weight)
		}
		o.mood = func(context.Context, []float32) (float64, error) {
			return 0, errors.New("out of memory")
		}
		h.announce()
		h.declines(wire.DeclineLoss)
		o.mood = nil
		d.progress()
		h.announce(func(a *wire.Announcement) { a.StepSize, a.Attempt = 1e20, 1 })
		if r := h.one(wire.Decline); r.Reason != wire.DeclineTooLarge &&
			r.Reason != wire.DeclineLoss {
			t.Errorf("declined with %v, want too large", r.Reason)
		}
		if p := d.now(); p.Declined == 0 || p.Err == nil {
			t.Errorf("reported %+v, want a decline and why", p)
		}
		h.announce(func(a *wire.Announcement) { a.StepSize, a.Attempt = 3e12, 2 })
		h.declines(wire.DeclineTooLarge)
		if err := d.now().Err; err == nil || !strings.Contains(err.Error(), "max_scalar") {
			t.Errorf("reported %v, want the limit", err)
		}
		h.announce(func(a *wire.Announcement) { a.Attempt = 3 })
		h.oneVector()
	})
}

// A missing permission to send or fetch vectors ends Run.
func TestDensePermissions(t *testing.T) {
	for _, subject := range []string{"zo.t.u.*", "zo.t.d.*"} {
		bubble(t, func(t *testing.T) {
			h := newHost(t, densePlan(small))
			h.bus.DenyPublish(subject)
			d := h.device("d0", bowlLoss(small, 0))
			if subject == "zo.t.d.*" {
				h.commit()
			}
			h.announce()
			pass(5 * time.Second)
			if err := d.result(); !errors.Is(err, bus.ErrPermission) {
				t.Errorf("%s: Run returned %v, want %v", subject, err, bus.ErrPermission)
			}
		})
	}
}

// A repeated announcement does not end an evaluation if the coordinator has taken the vector.
func TestDenseEvaluation(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := densePlan(small)
		p.EvalEvery, p.EvalCount, p.Metrics = 1, 1, []string{"m"}
		h, o := newHost(t, p), newMoody(t)
		o.metrics = func(ctx context.Context, _ []float32) ([]float64, int, error) {
			select {
			case <-time.After(25 * time.Second):
				return []float64{1}, 1, nil
			case <-ctx.Done():
				return nil, 0, context.Cause(ctx)
			}
		}
		h.device("d0", o)
		h.announce()
		h.oneVector()
		pass(5 * time.Second)
		h.announce()
		pass(20 * time.Second)
		h.one(wire.Evaluation)
	})
}
