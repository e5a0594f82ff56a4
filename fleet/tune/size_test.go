package tune

import (
	"context"
	"strings"
	"testing"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/grouping"
	"github.com/zofl/zofl/wire/preset"
)

// TestShare: the directions of a round are P for all devices, for each group, or for each device.
func TestShare(t *testing.T) {
	for _, c := range []struct {
		sharing wire.Sharing
		want    float64
	}{
		{wire.SharedDirections, 4. / (4 + 100)},
		{wire.GroupDirections, 8. / (8 + 100)},
		{wire.PerClient, 40. / (40 + 100)},
	} {
		p := &wire.Plan{Dim: 99, Sharing: c.sharing, Target: 10, OverSample: 1}
		if c.sharing == wire.GroupDirections {
			p.Groups, p.GroupSize, p.Regroup = grouping.Random, 5, 10
		}
		if got := share(p, 4); got != c.want {
			t.Errorf("%v: %v, want %v", c.sharing, got, c.want)
		}
	}
}

// TestSmallerBatch: a quarter of the batch is taken for a gain that is no smaller, and says why.
func TestSmallerBatch(t *testing.T) {
	p, err := preset.Unbound("decomfl", "run", 2)
	if err != nil {
		t.Fatal(err)
	}
	p.Batch, p.StepSize = 8, 0.01
	o := objective.Func(2, func(_ context.Context, x []float32, _ objective.Batch) (float64, error) {
		a, b := float64(x[0])-3, float64(x[1])+1
		return a*a + b*b, nil
	})
	r, err := Run(t.Context(), Config{Plan: p, Devices: []objective.Objective{o, o},
		Fields: []string{"batch"}})
	if err != nil || r.Plan.Batch != 2 || !strings.HasPrefix(r.Reasons[0], "batch=2: ") ||
		!strings.Contains(r.Reasons[0], "a quarter of the work") {
		t.Errorf("%v, %+v", err, r)
	}
}
