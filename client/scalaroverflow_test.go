package client_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/prng"
	"github.com/zofl/zofl/wire"
)

// The largest half is 65504. The device sends a scalar that rounds to 65504, and declines a scalar
// that rounds to more.
func TestHalfOverflow(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := testPlan(small)
		p.Precision, p.MaxScalar, p.Perturbations = plan.Half, 65504, 1
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
			h.sends(tt.g, tt.fits)
		}
		d.stop()
	})
}

// sends checks that the device sends a scalar of about g, or declines because the scalar is too
// large.
func (h *host) sends(g float64, fits bool) {
	h.t.Helper()
	h.announce(func(a *wire.Announcement) {
		a.Attempt++
		a.Perturbations = 1
		a.StepSize += float32(math.Abs(g))
	})
	replies := h.take()
	if len(replies) != 1 || (replies[0].Kind == wire.Contribution) != fits {
		h.t.Fatalf("a scalar of about %v: got %s", g, kinds(replies))
	}
	if !fits && replies[0].Reason != wire.DeclineTooLarge {
		h.t.Errorf("a scalar of about %v: %v", g, replies[0].Reason)
	}
}

// The scale of a block is a half, too, and rounding may increase a scalar by half a step of the
// scale.
func TestScaleOverflow(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := testPlan(small)
		fewBits(p, plan.Int4, 1)
		h, o := newHost(t, p), newMoody(t)
		d := h.device("d0", o)
		var slope float64
		o.mood = func(_ context.Context, x []float32) (float64, error) {
			return slope*float64(x[0]) + 1e-300, nil
		}
		slope = 1
		h.announce()
		r := h.one(wire.Contribution)
		if len(r.Values) != 4 {
			t.Fatalf("%d bytes, want a scale and a code in a word", len(r.Values))
		}
		along := direction(p, 2, 0, 0, prng.Slot(h.slots["d0"]))[0]
		for _, tt := range []struct {
			g    float64
			fits bool
		}{{59000, true}, {61000, false}, {65528, false}, {1e9, false}, {-1e30, false}} {
			slope = tt.g / along
			h.sends(tt.g, tt.fits)
		}
		d.stop()
	})
}

// A device moves by the rounded scalars that it sends: a replica that advances by the scalars of
// one step reaches the point of the next step.
func TestMovesByWhatItSends(t *testing.T) {
	for _, precision := range []plan.Precision{plan.Half, plan.Int8, plan.Int4, plan.Int2} {
		t.Run(precision.String(), func(t *testing.T) { movesByWhatItSends(t, precision) })
	}
}

func movesByWhatItSends(t *testing.T, precision plan.Precision) {
	bubble(t, func(t *testing.T) {
		p := testPlan(small)
		p.Precision, p.MaxScalar, p.Steps, p.Perturbations, p.StepSize = precision, 65504, 2, 10, 300
		p.Difference = plan.Central
		if precision.Quantized() {
			fewBits(p, precision, 10)
		}
		h := newHost(t, p)
		d := h.device("d0", bowlLoss(small, 3))
		h.announce()
		r := h.one(wire.Contribution)
		w := h.witness(1)
		at := replica.Local{X: slices.Clone(w.Params())}
		if precision.Quantized() {
			at.Source = prng.Slot(h.slots["d0"])
		}
		g := precision.Values(r.Values, 2, 10)
		w.Advance(&at, 2, 0, g[:10], p.StepSize)
		probe, b := make([]float32, small),
			objective.Batch{Seed: plan.BatchSeed(runName, "d0", 2, 1)}
		want := make([]float32, 10)
		for i := range want {
			z := w.Direction(2, 1, i, at.Source)
			w.Perturb(probe, at.X, 0, p.Mu, &z)
			plus := bowl(probe, 3, b)
			w.Perturb(probe, at.X, 0, -p.Mu, &z)
			minus := bowl(probe, 3, b)
			want[i] = float32((plus - minus) / (2 * float64(p.Mu)))
		}
		if precision.Round(want); !slices.Equal(g[10:], want) {
			t.Errorf("step 1: got %v, want %v", g[10:], want)
		}
		d.stop()
	})
}
