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

// TestFewUnlike trains three honest devices of which one differs: their losses are least at 1, 1
// and 10. Their sum is least at 4. The default bound lets one of three count as no more than
// another, so the model ends where the two are least. Without a bound it ends at 4.
func TestFewUnlike(t *testing.T) {
	learns(t)
	devices := make([]objective.Objective, 3)
	for i, least := range []float64{1, 1, 10} {
		devices[i] = objective.Func(1, func(_ context.Context, x []float32,
			_ objective.Batch) (float64, error) {
			off := float64(x[0]) - least
			return off * off, nil
		})
	}
	for bound, want := range map[string][2]float64{"8": {0.9, 1.5}, "0": {3.9, 4.1}} {
		plan, err := preset.New("zofl", "unlike", 1)
		if err != nil {
			t.Fatal(err)
		}
		for field, value := range map[string]string{"members": "3", "rounds": "400", "bound": bound,
			"diverge": "0"} {
			if err := planfile.Set(plan, field, value); err != nil {
				t.Fatal(err)
			}
		}
		preset.Few(plan)
		plan.Quorum = plan.Target
		r, err := fleet.Run(t.Context(), plan, devices, fleet.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := float64(r.Params[0])
		if t.Logf("bound=%s: ends at %.2f", bound, got); got < want[0] || got > want[1] {
			t.Errorf("bound=%s: ends at %.2f, want %v", bound, got, want)
		}
	}
}
