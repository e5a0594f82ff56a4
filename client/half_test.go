package client_test

import (
	"context"
	"slices"
	"testing"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/wire"
)

// The largest half is 65504. A scalar that rounds to it is accepted; one that rounds to more is
// too large.
func TestHalfOverflow(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := testPlan(small)
		p.Precision, p.MaxScalar, p.Perturbations = wire.Half, 65504, 1
		h, o := newHost(t, p), newMoody(t)
		d := h.device("d0", o)
		var slope float64
		o.mood = func(_ context.Context, x []float32) (float64, error) {
			return slope*float64(x[0]) + 1e-300, nil
		}
		slope = 1
		h.announce()
		r := h.one(wire.Contribution)
		if len(r.Values) != 2 {
			t.Fatalf("%d bytes, want a half", len(r.Values))
		}
		along := direction(p, 2, 0, 0, prng.Shared)[0]
		for _, tt := range []struct {
			g    float64
			fits bool
		}{{65000, true}, {65512, true}, {65528, false}, {1e9, false}} {
			slope = tt.g / along
			h.announce(func(a *wire.Announcement) {
				a.Attempt++
				a.Perturbations = 1
				a.StepSize += float32(tt.g)
			})
			replies := h.take()
			if len(replies) != 1 || (replies[0].Kind == wire.Contribution) != tt.fits {
				t.Errorf("a scalar of about %v: got %s", tt.g, kinds(replies))
			}
			if !tt.fits && replies[0].Reason != wire.DeclineTooLarge {
				t.Errorf("a scalar of about %v: %v", tt.g, replies[0].Reason)
			}
		}
		d.stop()
	})
}

// A device moves by what it sends, rounded: a replica that advances by the scalars of one step
// reaches the point of the next.
func TestHalfMovesByWhatItSends(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := testPlan(small)
		p.Precision, p.MaxScalar, p.Steps, p.Perturbations, p.StepSize = wire.Half, 65504, 2, 10, 300
		p.Difference = wire.Central
		h := newHost(t, p)
		d := h.device("d0", bowlLoss(small, 3))
		h.announce()
		r := h.one(wire.Contribution)
		w := h.witness(1)
		at := replica.Local{X: slices.Clone(w.Params())}
		g := wire.Half.Values(r.Values, 2, 10)
		w.Advance(&at, 2, 0, g[:10], p.StepSize)
		probe, b := make([]float32, small),
			objective.Batch{Seed: wire.BatchSeed(runName, "d0", 2, 1)}
		for i, got := range g[10:] {
			z := w.Direction(2, 1, i, prng.Shared)
			w.Perturb(probe, at.X, 0, p.Mu, &z)
			plus := bowl(probe, 3, b)
			w.Perturb(probe, at.X, 0, -p.Mu, &z)
			minus := bowl(probe, 3, b)
			want := []float32{float32((plus - minus) / (2 * float64(p.Mu)))}
			if wire.Half.Round(want); got != want[0] {
				t.Errorf("g[1,%d] = %v, want %v", i, got, want[0])
			}
		}
		d.stop()
	})
}
