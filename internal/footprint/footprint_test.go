package footprint_test

import (
	"testing"

	"github.com/zofl/zofl/internal/footprint"
	"github.com/zofl/zofl/plan"
)

// A passive replica has the state alone, workers have blocks of their own, and the field that
// takes most is named.
func TestBytes(t *testing.T) {
	plain := plan.Plan{
		Dim:         1000,
		ProbeFields: plan.ProbeFields{Steps: 1}, LocalFields: plan.LocalFields{Rule: plan.SGD},
	}
	surrogate := plan.Plan{
		Dim:             1000,
		ProbeFields:     plan.ProbeFields{Steps: 1, Estimator: plan.Surrogate},
		SurrogateFields: plan.SurrogateFields{Features: 100, Window: 100, Candidates: 10, Active: 10},
		LocalFields:     plan.LocalFields{Rule: plan.SGD},
		AggregateFields: plan.AggregateFields{Transport: plan.DenseVectors},
	}
	many := surrogate
	many.Active = 4096
	const block, vector = 4 * 4096, 4 * 1000
	for _, tt := range []struct {
		name  string
		plan  plan.Plan
		on    footprint.Device
		bytes uint64
		cause string
	}{
		{"a witness", plain, footprint.Device{Passive: true}, vector + block, "dim"},
		{"a stream", plain, footprint.Device{}, vector + block, "dim"},
		{"a flat loss", plain, footprint.Device{Flat: true}, 2*vector + block, "dim"},
		{"workers", plain, footprint.Device{Workers: 3}, vector + 3*block, "dim"},
		// A vector of M is in transit; v of each feature takes as much as 100 points.
		{"a surrogate", surrogate, footprint.Device{}, 0, "window"},
		{"queries", many, footprint.Device{Flat: true}, 0, "active"},
	} {
		got := footprint.Bytes(&tt.plan, tt.on)
		if tt.bytes > 0 && got != tt.bytes {
			t.Errorf("%s: %d bytes, want %d", tt.name, got, tt.bytes)
		}
		if field, _ := footprint.Cause(&tt.plan, tt.on); field != tt.cause {
			t.Errorf("%s: %s takes most, want %s", tt.name, field, tt.cause)
		}
	}
}
