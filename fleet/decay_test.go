package fleet_test

import (
	"context"
	"testing"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/fleet"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/plan/preset"
)

// TestDecayBesideAFoundStep: server_decay multiplies the step that a run finds, and where
// parameters must go far, that step is long. The decay must not drive the model away from where it
// began.
func TestDecayBesideAFoundStep(t *testing.T) {
	const dim, devices = 20, 3
	for _, far := range []float64{1, 100, 1e4} {
		for _, decay := range []string{"0.03", "0.1", "1", "30"} {
			for seed := range byte(2) {
				plan, err := preset.New("zofl", "decay", dim)
				if err != nil {
					t.Fatal(err)
				}
				plan.RunKey = append(make([]byte, 31), seed)
				plan.Members, plan.Target, plan.Quorum = devices, devices, devices
				plan.Rounds, plan.Diverge = 150, 0
				if err := planfile.Set(plan, "server_decay", decay); err != nil {
					t.Fatal(err)
				}
				loss := func(_ context.Context, x []float32, _ objective.Batch) (f float64, err error) {
					for _, v := range x {
						f += (float64(v) - far) * (float64(v) - far) / dim
					}
					return f, nil
				}
				var list []objective.Objective
				for range devices {
					list = append(list, objective.Func(dim, loss))
				}
				r, err := fleet.Run(t.Context(), plan, list, fleet.Options{})
				if err != nil {
					t.Errorf("%v away, decay %s: %v", far, decay, err)
					continue
				}
				end, _ := loss(nil, r.Params, objective.Batch{})
				if end > far*far {
					t.Errorf("%v away, decay %s, key %d: the loss ends at %.3g times the first", far, decay,
						seed, end/far/far)
				}
			}
		}
	}
}
