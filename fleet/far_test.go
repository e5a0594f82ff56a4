package fleet_test

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/fleet"
	"github.com/zofl/zofl/plan/preset"
	"github.com/zofl/zofl/wire/survey"
)

// TestFarFromTheStart: if parameters begin far from their best values, the longest step that
// devices try is too short. To change the unit of the parameters helps. docs/faq.md says so, with
// the step.
func TestFarFromTheStart(t *testing.T) {
	learns(t)
	const dim, rounds, far = 1000, 300, 30_000
	longest := survey.Lengths()[len(survey.Lengths())-1]
	page, err := os.ReadFile("../docs/faq.md")
	if err != nil {
		t.Fatal(err)
	}
	if cause := fmt.Sprintf("longest step that a run finds, [%v]", longest); !strings.Contains(
		string(page), cause) {
		t.Errorf("docs/faq.md lacks %q", cause)
	}
	for _, tt := range []struct {
		unit        float64
		least, most float64 // share of the way that parameters went
	}{{1, 0.5, 0.8}, {1000, 0.99, 1.01}} {
		plan, err := preset.New("zofl", "far", dim)
		if err != nil {
			t.Fatal(err)
		}
		plan.Members, plan.Target, plan.Quorum, plan.Rounds = 2, 2, 2, rounds
		plan.RunKey = make([]byte, 32)
		device := objective.Func(dim,
			func(_ context.Context, x []float32, _ objective.Batch) (f float64, err error) {
				for _, v := range x {
					d := float64(v)*tt.unit - far
					f += d * d
				}
				return f, nil
			})
		all := []objective.Objective{device, device}
		result, err := fleet.Run(t.Context(), plan, all, fleet.Options{})
		if err != nil {
			t.Fatal(err)
		}
		mean := 0.0
		for _, v := range result.Params {
			mean += float64(v) * tt.unit / far / dim
		}
		first := result.Rounds[survey.FirstRounds].RoundStep
		t.Logf("in units of %v: first step %.3g, %.2f of the way", tt.unit, first, mean)
		if mean < tt.least || mean > tt.most {
			t.Errorf("in units of %v parameters went %.2f of the way, want %v to %v",
				tt.unit, mean, tt.least, tt.most)
		}
		if tt.unit == 1 && (first < 0.15*longest || first > 0.2*longest) {
			t.Errorf("the first step is %v, want some 200", first)
		}
	}
}
