package dp_test

import (
	"testing"

	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/dp"
	"github.com/zofl/zofl/wire/noise"
)

// TestSpent: the plan is no release, and with dp_by=device an answer to the open record is one.
func TestSpent(t *testing.T) {
	p := &wire.Plan{DPNoise: 4, DPDelta: 0.001, Rounds: 7}
	if dp.Spent(p, 9) != nil || dp.Planned(p) != nil {
		t.Error("a plan without noise has a budget")
	}
	p.DPClip = 1
	for _, c := range []struct {
		by          uint8
		n, releases uint64
	}{
		{noise.ByDevice, 0, 0}, {noise.ByDevice, 1, 1}, {noise.ByDevice, 9, 9},
		{noise.ByCoordinator, 0, 0}, {noise.ByCoordinator, 1, 0}, {noise.ByCoordinator, 9, 8},
	} {
		p.DPBy = c.by
		got := dp.Spent(p, c.n)
		if want := dp.Epsilon(4, c.releases, got.Delta); got.Epsilon != want {
			t.Errorf("by %d, %d records: %v, want %v", c.by, c.n, got, want)
		}
	}
	got := dp.Planned(p)
	if want := "epsilon 2.15 at delta 0.001, at most"; got.String() != want {
		t.Errorf("planned %q, want %q", got, want)
	}
	if p.Rounds = 0; dp.Planned(p) != nil {
		t.Error("a plan without an end has an end's budget")
	}
}
