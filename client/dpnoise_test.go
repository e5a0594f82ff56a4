package client_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/zofl/zofl/client"
	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/survey"
)

// noisyPlan is a plan whose devices clip the norm of their scalars to 2 and add noise.
func noisyPlan(sigma float32) *plan.Plan {
	p := testPlan(small)
	p.DPClip, p.DPNoise, p.DPDelta, p.Perturbations = 2, sigma, 1e-5, 100
	return p
}

func scalarsOf(r reply) []float32 {
	v := make([]float32, len(r.Values)/4)
	for i := range v {
		v[i] = r.Values.At(i)
	}
	return v
}

// counting says that the device has samples. The number must not leave the device.
type counting struct{ objective.Flat }

func (counting) Samples() int { return 77 }

// TestNoiseHides: a device sends only scalars with the norm that the plan sets, with noise of the
// plan's size. The frame contains neither the device's loss nor its number of samples.
func TestNoiseHides(t *testing.T) {
	for _, sigma := range []float32{0.01, 4} {
		bubble(t, func(t *testing.T) {
			h := newHost(t, noisyPlan(sigma))
			h.device("d0", counting{bowlLoss(small, 0).(objective.Flat)}, with(newStore(t)))
			h.announce()
			r, sum := h.one(wire.Contribution), 0.0
			for _, v := range scalarsOf(r) {
				sum += float64(v) * float64(v)
			}
			// 100 scalars have noise of a norm of 10*sigma*2, beside at most 2.
			least, most := 15*float64(sigma), 25*float64(sigma)+2
			if norm := math.Sqrt(sum); !(norm >= least && norm <= most) {
				t.Errorf("noise %v: norm %v, want %v to %v", sigma, norm, least, most)
			}
			if r.Loss != 0 || r.Weight != 1 || len(r.Rest) > 0 {
				t.Errorf("loss %v, weight %d, rest %x left the device", r.Loss, r.Weight, r.Rest)
			}
		})
	}
}

// TestNoiseOnce: for one record a device sends the same bytes or nothing, whatever announcement
// asks again, and whenever the process is killed. Otherwise the mean of several answers would
// reveal what the noise hides.
func TestNoiseOnce(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h, s := newHost(t, noisyPlan(1)), newStore(t)
		d := h.device("d0", bowlLoss(small, 0), with(s))
		h.announce()
		first := h.one(wire.Contribution)
		for range 3 {
			h.announce(func(a *wire.Announcement) { a.Attempt++ })
			if again := h.one(wire.Contribution); string(again.frame) != string(first.frame) {
				t.Errorf("got\n%x, first\n%x", again.frame, first.frame)
			}
			for _, edit := range []func(*wire.Announcement){
				func(a *wire.Announcement) { a.StepSize *= 2 },
				func(a *wire.Announcement) { a.Perturbations-- },
				asking(survey.Mu),
			} {
				h.announce(edit)
				h.silent()
			}
			s = d.killed(s)
			d = h.device("d0", bowlLoss(small, 0), with(s))
		}
	})
}

// TestNoiseUnkept: if the store fails to save an answer, the device does not send it. The device
// sends the answer once the store works.
func TestNoiseUnkept(t *testing.T) {
	bubble(t, func(t *testing.T) {
		h, s := newHost(t, noisyPlan(1)), newStore(t)
		full := errors.New("no space left on device")
		s.fails(full, "reply")
		d := h.device("d0", bowlLoss(small, 0), with(s))
		h.announce()
		h.silent()
		h.announce()
		h.silent()
		for _, p := range d.progress() {
			if p.Contributed {
				t.Error("reported a contribution that was not sent")
			}
		}
		s.fails(nil)
		h.announce()
		first := h.one(wire.Contribution)
		h.device("d1", bowlLoss(small, 1), func(c *client.Config) { c.Store = nil })
		h.announce()
		if again := h.one(wire.Contribution); string(again.frame) != string(first.frame) {
			t.Errorf("a device without a store answered: %x", again.frame)
		}
	})
}

// TestNoiseOfLargeScalars: a device whose scalars are too large clips and sends them. A decline
// would reveal that the scalars are large.
func TestNoiseOfLargeScalars(t *testing.T) {
	bubble(t, func(t *testing.T) {
		p := noisyPlan(0.01)
		p.MaxScalar = 20
		h := newHost(t, p)
		h.device("d0", newRough(), with(newStore(t)))
		h.announce()
		for _, v := range scalarsOf(h.one(wire.Contribution)) {
			if !(math.Abs(float64(v)) <= 2.2) {
				t.Errorf("sent %v", v)
			}
		}
	})
}

// newRough returns a loss that jumps between 0 and 1e30.
func newRough() objective.Objective {
	calls := 0
	return objective.Func(small, func(_ context.Context, _ []float32, _ objective.Batch) (float64,
		error) {
		calls++
		return 1e30 * float64(calls%2), nil
	})
}
