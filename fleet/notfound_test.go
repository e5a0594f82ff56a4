package fleet_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/fleet"
	"github.com/zofl/zofl/plan/preset"
)

// TestStepNotFound: where no loss along the first moves tells anything of the step, the run says so
// and goes on without moving the model. It looks again after 5, 10 and 20 rounds, and learns
// once the loss tells more.
func TestStepNotFound(t *testing.T) {
	for _, devices := range []uint32{1, 2, 3} {
		plan, err := preset.New("zofl", "later", 4)
		if err != nil {
			t.Fatal(err)
		}
		plan.Members, plan.Target, plan.Quorum, plan.Rounds = devices, devices, devices, 60
		plan.Mu, plan.RunKey = 0.1, make([]byte, 32)
		level := func(_ context.Context, x []float32, b objective.Batch) (float64, error) {
			sum := 0.0
			for _, v := range x {
				sum += float64(v-1) * float64(v-1)
			}
			if b.N < 18 && sum < 30 { // nothing is known yet, but far away
				sum = 4
			}
			return sum, nil
		}
		var list []objective.Objective
		for range devices {
			list = append(list, objective.Func(4, level))
		}
		r, err := fleet.Run(t.Context(), plan, list, fleet.Options{})
		if err != nil {
			t.Fatal(err)
		}
		var after []string
		for _, f := range r.Found {
			if f.Kind == "step" && f.Value == 0 {
				_, later, _ := strings.Cut(f.Why, "look again after round ")
				after = append(after, later)
			}
		}
		if strings.Join(after, " ") != "5 10 20" || r.Rounds[18].Step != 0 || r.Rounds[18].Mu != 0.1 {
			t.Errorf("%d devices: found no step %q: %+v", devices, after, r.Found)
		}
		end, _ := level(nil, r.Params, objective.Batch{N: 99})
		if last := r.Found[len(r.Found)-1]; !(last.Value > 0) || !(end < 0.4) || math.IsNaN(end) {
			t.Errorf("%d devices: found %+v, the loss ends at %v of 4", devices, last, end)
		}
	}
}

// TestMuLooksAgain: mu is looked for along other directions where no direction had a slope, and
// again where no device can send a scalar with the mu that was found. Each is tried only so often.
func TestMuLooksAgain(t *testing.T) {
	square := func(x []float32, at float32) (sum float64) {
		for _, v := range x {
			sum += float64((v - at) * (v - at))
		}
		return sum
	}
	for name, test := range map[string]struct {
		loss  func(x []float32, b objective.Batch) float64
		mus   int    // surveys of mu, 0 for any
		fails string // how the run ends otherwise
	}{
		"level at first": {func(x []float32, b objective.Batch) float64 {
			if b.N < 4 {
				return square(x, 0)
			}
			return square(x, 1)
		}, 3, ""},
		"level": {func(x []float32, b objective.Batch) float64 { return square(x, 0) }, 4,
			"begin at random parameters"},
		"too large at first": {func(x []float32, b objective.Batch) float64 {
			if b.N == 3 && x[0] != 0 && b.Step == 0 {
				return 1e12
			}
			return square(x, 1)
		}, 2, ""},
		"too large": {func(x []float32, b objective.Batch) float64 {
			if x[0] != 0 && b.Step == 0 {
				return 1e12
			}
			return square(x, 1)
		}, 4, "scalar too large"},
	} {
		plan, err := preset.New("zofl", "again", 4)
		if err != nil {
			t.Fatal(err)
		}
		plan.Members, plan.Target, plan.Quorum, plan.Rounds = 2, 2, 2, 60
		plan.RunKey = make([]byte, 32)
		var list []objective.Objective
		for range 2 {
			list = append(list, objective.Func(4,
				func(_ context.Context, x []float32, b objective.Batch) (float64, error) {
					return test.loss(x, b), nil
				}))
		}
		r, err := fleet.Run(t.Context(), plan, list, fleet.Options{})
		if (err != nil) != (test.fails != "") ||
			err != nil && !strings.Contains(err.Error(), test.fails) {
			t.Errorf("%s: %v, want %q", name, err, test.fails)
		}
		mus := 0
		for _, f := range r.Found {
			if f.Kind == "mu" {
				mus++
			}
		}
		if err != nil && strings.Contains(err.Error(), "survey") {
			mus++ // the last one
		}
		if mus != test.mus {
			t.Errorf("%s: devices looked for mu %d times, want %d: %+v", name, mus, test.mus, r.Found)
		}
		if end := test.loss(r.Params, objective.Batch{N: 999}); err == nil && !(end < 0.4) {
			t.Errorf("%s: the loss ends at %v of 4", name, end)
		}
	}
}
