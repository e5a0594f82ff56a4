package fleet_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/fleet"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/plan/preset"
)

// balanced returns n samples of which every second has a label.
func balanced(n int) *alarm {
	rng, a := rand.New(rand.NewPCG(7, 8)), &alarm{}
	for i := range n {
		var x [20]float64
		label := float64(i % 2)
		for j := range x {
			x[j] = rng.NormFloat64() + label*0.4
		}
		a.features, a.labels = append(a.features, x), append(a.labels, label)
	}
	return a
}

// TestOneLiar trains with the default preset, with no field changed. One of a few devices answers
// -10 or -100 times its loss. The model must end nearly as well as that of the honest devices.
func TestOneLiar(t *testing.T) {
	learns(t)
	a := balanced(4000)
	all := make([]int, len(a.labels))
	for i := range all {
		all[i] = i
	}
	train := func(t *testing.T, devices []objective.Objective) float64 {
		plan, err := preset.New("zofl", "liar", 21)
		if err != nil {
			t.Fatal(err)
		}
		plan.RunKey = make([]byte, 32)
		for field, value := range map[string]string{"members": fmt.Sprint(len(devices)),
			"rounds": "150"} {
			if err := planfile.Set(plan, field, value); err != nil {
				t.Fatal(err)
			}
		}
		preset.Few(plan)
		plan.Quorum = plan.Target // so that each round has the liar
		r, err := fleet.Run(t.Context(), plan, devices, fleet.Options{})
		if err != nil {
			t.Fatal(err)
		}
		return a.loss(r.Params, all)
	}
	for _, n := range []int{3, 5, 10} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			devices := a.devices(n)
			honest := train(t, devices[1:])
			for _, factor := range []float64{-10, -100} {
				liar := objective.Func(21, func(_ context.Context, x []float32,
					b objective.Batch) (float64, error) {
					rng, rows := rand.New(rand.NewPCG(b.Seed, 1)), make([]int, 50)
					for i := range rows {
						rows[i] = rng.IntN(len(all) / n)
					}
					return factor * a.loss(x, rows), nil
				})
				got := train(t, append([]objective.Objective{liar}, devices[1:]...))
				if t.Logf("%v: loss %.3f, honest devices %.3f", factor, got, honest); got > honest+0.03 {
					t.Errorf("%v times its loss: %.3f, the honest devices alone %.3f", factor, got, honest)
				}
			}
		})
	}
}
