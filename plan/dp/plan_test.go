package dp_test

import (
	"math"
	"testing"

	"github.com/zofl/zofl/internal/dpnoise"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/dp"
)

// TestSpent: record 1 does not count as a release. With dp_by=device the contribution to the open
// record counts.
func TestSpent(t *testing.T) {
	p := &plan.Plan{
		PrivacyFields: plan.PrivacyFields{DPNoise: 4, DPDelta: 0.001},
		StopFields:    plan.StopFields{Rounds: 7},
	}
	if dp.Spent(p, 9) != nil || dp.Planned(p) != nil {
		t.Error("a plan without noise has a budget")
	}
	p.DPClip = 1
	for _, c := range []struct {
		by          uint8
		n, releases uint64
	}{
		{dpnoise.ByDevice, 0, 0}, {dpnoise.ByDevice, 1, 1}, {dpnoise.ByDevice, 9, 9},
		{dpnoise.ByCoordinator, 0, 0}, {dpnoise.ByCoordinator, 1, 0}, {dpnoise.ByCoordinator, 9, 8},
	} {
		p.DPBy = c.by
		got := dp.Spent(p, c.n)
		if want := dp.Epsilon(4, c.releases, got.Delta); got.Epsilon != want {
			t.Errorf("by %d, %d records: %v, want %v", c.by, c.n, got, want)
		}
	}
	got := dp.Planned(p)
	if want := "epsilon 1.89 at delta 0.001, at most"; got.String() != want {
		t.Errorf("planned %q, want %q", got, want)
	}
	if want := dp.Epsilon(4, 7, got.Delta); got.Epsilon != want {
		t.Errorf("planned %v, want %v", got.Epsilon, want)
	}
	p.DPBy, p.DPOf = dpnoise.ByDevice, dpnoise.OfSum
	if got := dp.Planned(p).String(); got != "epsilon 2.15 at delta 0.001, at most" {
		t.Errorf("a sum spends %q", got)
	}
	if got, want := dp.Spent(p, 7), dp.Planned(p); *got != *want {
		t.Errorf("a sum has spent %v, want %v", got, want)
	}
	if p.Rounds = 0; dp.Planned(p) != nil {
		t.Error("a plan without an end has an end's budget")
	}
}

// TestNoiseFor: with the noise of NoiseFor the log of all rounds stays within the budget; with
// slightly less noise it does not.
func TestNoiseFor(t *testing.T) {
	for _, by := range []plan.PrivacyFields{
		{DPBy: dpnoise.ByDevice}, {DPBy: dpnoise.ByCoordinator}, {DPOf: dpnoise.OfSum},
	} {
		for _, epsilon := range []float64{0.1, 1, 2, 4, 8, 100} {
			for _, rounds := range []uint64{1, 20, 500, 10_000} {
				p := &plan.Plan{
					PrivacyFields: by,
					StopFields:    plan.StopFields{Rounds: rounds},
				}
				p.DPClip, p.DPDelta = 1, 1e-5
				p.DPNoise = dp.NoiseFor(p, epsilon)
				spent := dp.Spent(p, rounds+2).Epsilon
				p.DPNoise *= 0.999
				less := dp.Spent(p, rounds+2).Epsilon
				if by.DPBy == dpnoise.ByDevice && !(less > epsilon) {
					t.Errorf("epsilon %v, %d rounds: less noise spends %v", epsilon, rounds, less)
				}
				if !(spent <= epsilon) {
					t.Errorf("epsilon %v, %d rounds, %+v: spent %v", epsilon, rounds, by, spent)
				}
			}
		}
	}
	p := &plan.Plan{PrivacyFields: plan.PrivacyFields{DPClip: 1, DPDelta: 1e-5}}
	if got := dp.NoiseFor(p, 8); !math.IsInf(float64(got), 1) {
		t.Errorf("a plan without an end gets noise %v", got)
	}
	p.Rounds = 10
	if got := dp.NoiseFor(p, 0); !math.IsInf(float64(got), 1) {
		t.Errorf("no epsilon gets noise %v", got)
	}
}
