package tune_test

import (
	"context"
	"math"
	"testing"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/fleet/tune"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/preset"
)

// TestMuBesideJumps: a loss in whole numbers jumps beside the first parameters, even along a
// direction without a slope. Run does not choose mu there, whatever the seed is, and stays within
// its budget.
func TestMuBesideJumps(t *testing.T) {
	computes(t)
	for seed := range uint64(16) {
		asked := uint64(0)
		device := objective.Func(4, func(_ context.Context, x []float32, _ objective.Batch) (
			float64, error) {
			asked++
			f := float32(0)
			for _, v := range x {
				f += (v - 1) * (v - 1)
			}
			return math.Trunc(float64(100 * f)), nil
		})
		p, err := preset.New("zofl", "whole", 4)
		if err != nil {
			t.Fatal(err)
		}
		p.RunKey, p.Mu, p.MuAuto = make(plan.Bytes, 32), 1e-3, 0
		p.Members, p.Target, p.Quorum = 1, 1, 1
		r, err := tune.Run(t.Context(), tune.Config{Plan: p, Devices: []objective.Objective{device},
			Fields: []string{"mu"}, Seed: seed, Queries: 4000})
		if err != nil {
			t.Fatal(err)
		}
		if r.Plan.Mu < 1e-3 || asked > 4000 || r.Queries != asked {
			t.Errorf("seed %d: mu=%g: %q; %d queries, %d asked", seed, r.Plan.Mu, r.Reasons, r.Queries,
				asked)
		}
	}
}
