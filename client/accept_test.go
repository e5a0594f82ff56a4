package client_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/wire"
)

var errTooMuch = errors.New("that is too much work")

// judging sets Accept to a function that counts its calls and refuses batches above most. If wild
// is set, the function panics instead of returning an error.
func judging(most uint32, asked *[]uint32, wild bool) func(*client.Config) {
	return func(c *client.Config) {
		c.Accept = func(p *plan.Plan) error {
			*asked = append(*asked, p.Batch)
			batch := p.Batch
			p.Batch = 0 // p is a copy
			switch {
			case batch <= most:
				return nil
			case wild:
				panic(errTooMuch.Error())
			}
			return errTooMuch
		}
	}
}

// change commits a change of the batch.
func (h *host) change(batch int) {
	h.t.Helper()
	change := plan.Change{}
	if err := planfile.SetChange(&change, "batch", fmt.Sprint(batch)); err != nil {
		h.t.Fatal(err)
	}
	h.append(wire.Record{Kind: wire.KindChange, Change: &change})
}

// A plan that the app refuses ends Run before the device takes a slot or allocates the model. The
// next Run asks the app again. The client does not show the app a plan that the client itself
// refuses.
func TestRefusedPlan(t *testing.T) {
	for _, wild := range []bool{false, true} {
		bubble(t, func(t *testing.T) {
			p := testPlan(1 << 20)
			p.Batch = 64
			h := newHost(t, p)
			var known []wire.Known
			h.plansFirst(&known)
			var asked []uint32
			d := h.newDevice("d0", null(1<<20), judging(63, &asked, wild))
			for i := range 2 {
				d.run()
				err := d.result()
				if !errors.Is(err, client.ErrPlan) || !wild && !errors.Is(err, errTooMuch) ||
					!strings.Contains(err.Error(), errTooMuch.Error()) {
					t.Errorf("Run: %v, want ErrPlan and the app's reason", err)
				}
				if n, _ := d.Client.Record(); n != 0 || len(h.slots) != 0 || len(asked) != i+1 {
					t.Errorf("record %d, slots %v, asked %d times: want %d", n, h.slots,
						len(asked), i+1)
				}
			}
			other := h.newDevice("d1", null(small), judging(63, &asked, wild))
			other.run()
			if err := other.final(); errors.Is(err, client.ErrPlan) || len(asked) != 2 {
				t.Errorf("another dim: %v, asked %d times", err, len(asked))
			}
		})
	}
}

// A device whose app refuses a changed plan follows the log and declines, ever more rarely. The
// client asks the app once, and again after the next change. If the app accepts that change, the
// device contributes at once.
func TestRefusedChange(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := testPlan(small)
		p.Batch = 32
		h := newHost(t, p)
		var asked []uint32
		o, losses := newMoody(t), 0
		o.mood = func(context.Context, []float32) (float64, error) { losses++; return 0, nil }
		d := h.device("d0", o, judging(63, &asked, false))
		h.round()
		h.change(64)
		before, declines := losses, 0
		for range 8 {
			h.announce()
			for _, r := range h.take() {
				if declines++; r.Kind != wire.Decline || r.Reason != wire.DeclinePolicy {
					t.Errorf("%v for %v, want a decline by policy", r.Kind, r.Reason)
				}
			}
			if p := d.now(); p.Declined != 0 && !errors.Is(p.Err, errTooMuch) {
				t.Errorf("declined because of %v, want the app's reason", p.Err)
			}
			h.commit() // by other devices
		}
		if declines != 4 || len(asked) != 2 || losses != before {
			t.Errorf("%d declines, asked about %d, %d losses: want 4, 2 and none", declines, asked,
				losses-before)
		}
		h.change(16)
		h.round()
		h.announce()
		h.agrees(d, h.last())
		if len(asked) != 3 || losses == before {
			t.Errorf("asked about %d, want the third plan accepted and worked on", asked)
		}
		d.stop()
	})
}

// A device whose app refuses the plan answers no survey and measures no metrics, and a passive
// replica ends.
func TestRefusedByOthers(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := testPlan(small)
		p.EvalEvery, p.EvalCount, p.Metrics = 1, 1, []string{"accuracy"}
		h := newHost(t, p)
		var asked, watched []uint32
		o, evaluations := newMoody(t), 0
		o.metrics = func(context.Context, []float32) ([]float64, int, error) {
			evaluations++
			return []float64{1}, 1, nil
		}
		d := h.device("d0", o, judging(4, &asked, false))
		passive := h.newDevice("w", nil, judging(4, &watched, false), func(c *client.Config) {
			c.Passive = &client.Passive{}
		})
		passive.run()
		h.change(5)
		h.announce()
		if h.declines(wire.DeclinePolicy); evaluations != 0 {
			t.Errorf("%d evaluations, want none", evaluations)
		}
		if err := passive.result(); !errors.Is(err, errTooMuch) || len(watched) != 2 {
			t.Errorf("the passive replica, asked %d times: %v", len(watched), err)
		}
		d.stop()
	})
}
