package fleet_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/fleet"
)

// A parting is a device that has the same loss as all others until some record. Then its loss gets
// an extra slope. The extra slopes of all devices cancel.
type parting struct {
	slope float64
	from  uint64
}

func (parting) Dim() int { return 60 }

func (p parting) Loss(_ context.Context, x []float32, b objective.Batch) (float64, error) {
	loss := 0.0
	for i, v := range x {
		d := float64(v) - 1
		loss += 0.5 * d * d
		if b.N >= p.from {
			loss += p.slope * float64(v) * float64(1-2*(i%2))
		}
	}
	return loss, nil
}

// TestDevicesPart: with groups=auto, devices change from own to shared directions when their losses
// become different. Then steps fall as V falls, so that moves keep their length.
func TestDevicesPart(t *testing.T) {
	learns(t)
	const from, rounds = 40, 600
	p := newPlan(t, "zofl", 60, 4*rounds) // the fall at the end is far
	var devices []objective.Objective
	for _, slope := range []float64{3, -3, 5, -5} {
		devices = append(devices, parting{slope: slope, from: from})
	}
	stop, cancel := context.WithCancel(t.Context())
	steps, contributors := []float64{0}, 0
	r, err := fleet.Run(stop, p, devices, fleet.Options{Progress: func(round fleet.Round) error {
		steps = append(steps, float64(round.RoundStep)*math.Sqrt(1+float64(round.Round-1)/30))
		if contributors = int(round.Contributors); round.Round == rounds {
			cancel()
		}
		return nil
	}})
	if contributors != 4 || r == nil {
		t.Fatalf("%v: %d contributors", err, contributors)
	}
	var whys []string
	for _, f := range r.Found {
		whys = append(whys, f.Kind+": "+f.Why)
	}
	all := strings.Join(whys, "\n")
	if !strings.Contains(all, "each device has directions of its own") ||
		!strings.Contains(all, "share directions again") {
		t.Fatalf("found\n%s", all)
	}
	if before, after := steps[from-1], steps[rounds]; !(after < before/4) {
		t.Errorf("the step is %v of a round with own directions, %v long after", before, after)
	}
}
