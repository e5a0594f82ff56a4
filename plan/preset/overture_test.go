package preset_test

import (
	"testing"

	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/plan/preset"
	"github.com/zofl/zofl/plan/valid"
)

// TestShortOverture: few parameters or few evaluations begin with a short overture, others with
// that of old plans.
func TestShortOverture(t *testing.T) {
	for _, tt := range []struct {
		preset        string
		dim           uint64
		evaluations   uint64
		set           string // a field that the author sets
		after         uint32
		perturbations uint32
		beta          float32
	}{
		{"zofl", 1, 0, "", 1, 4, 0.7},
		{"zofl", 6, 10_000, "", 1, 4, 0.7},
		{"zofl", 19, 0, "", 1, 9, 0.7},
		{"zofl", 20, 0, "", 2, 10, 0.9},
		{"zofl", 50, 0, "", 2, 10, 0.9},
		{"zofl-shared", 6, 0, "", 1, 4, 0.7},
		{"zofl", 51, 0, "", 0, 10, 0.9},
		{"zofl", 51, 501, "", 0, 10, 0.9},
		{"zofl", 51, 500, "", 2, 10, 0.9},
		{"zofl", 51, 500, "step_after=5", 5, 10, 0.9},
		{"zofl", 51, 500, "step_after=0", 0, 10, 0.9},
		{"zofl", 51, 500, "step=0.1", 0, 10, 0.9},
		{"zofl", 51, 0, "rounds=45", 2, 10, 0.9},
		{"zofl", 51, 0, "rounds=46", 0, 10, 0.9},
		{"zofl", 6, 0, "step=0.1", 0, 4, 0.7},
		{"zofl", 6, 0, "perturbations=10", 1, 10, 0.7},
		{"decomfl", 6, 100, "", 0, 10, 0},
	} {
		p, err := preset.New(tt.preset, "short", tt.dim)
		if err != nil {
			t.Fatal(err)
		}
		var set []string
		if tt.set != "" {
			if set, err = planfile.SetAll(p, []string{tt.set}); err != nil {
				t.Fatal(err)
			}
		}
		preset.Overture(p, tt.evaluations, set...)
		if p.StepAfter != tt.after || p.Perturbations != tt.perturbations || p.ServerBeta1 != tt.beta {
			t.Errorf("%+v: step_after %d, P %d, beta %v", tt, p.StepAfter, p.Perturbations, p.ServerBeta1)
		}
		if err := valid.Plan(p); err != nil {
			t.Errorf("%+v: %v", tt, err)
		}
	}
}

// TestStepAfterBesideAStep: a plan made by hand may keep step_after beside a step.
func TestStepAfterBesideAStep(t *testing.T) {
	p, err := preset.New("zofl", "hand", 6)
	if err != nil {
		t.Fatal(err)
	}
	p.StepAuto, p.StepSize = 0, 0.1
	if err := valid.Plan(p); err != nil {
		t.Error(err)
	}
}
