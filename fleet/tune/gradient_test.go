package tune_test

import (
	"context"
	"strings"
	"testing"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/fleet/tune"
	"github.com/zofl/zofl/plan"
)

// A doubled objective returns twice the right gradient. Its loss is a tenth of the sum of squares.
type doubled struct{ dim int }

func (d doubled) Dim() int { return d.dim }

func (d doubled) Loss(_ context.Context, x []float32, _ objective.Batch) (sum float64, _ error) {
	for _, v := range x {
		sum += float64(v-1) * float64(v-1) / 10
	}
	return sum, nil
}

func (d doubled) Gradient(ctx context.Context, x []float32, b objective.Batch, g []float32) (
	float64, error) {
	for i, v := range x {
		g[i] = (v - 1) * 4 / 10
	}
	return d.Loss(ctx, x, b)
}

// TestGradientIsCompared: Run reports a wrong gradient among the reasons, unless Config.Checked is
// set.
func TestGradientIsCompared(t *testing.T) {
	for _, elsewhere := range []bool{false, true} {
		p := testPlan(t, "decomfl", func(*plan.Plan) {})
		devices := []objective.Objective{doubled{int(p.Dim)}, doubled{int(p.Dim)}}
		r, err := tune.Run(t.Context(), tune.Config{Plan: p, Devices: devices, Checked: elsewhere})
		if err != nil {
			t.Fatal(err)
		}
		said := strings.Contains(strings.Join(r.Reasons, "\n"),
			"Found a gradient that is not of its loss: device d0: where its gradient says")
		if said == elsewhere {
			t.Errorf("elsewhere %v: %q", elsewhere, r.Reasons)
		}
	}
}
