package preset_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/preset"
)

// TestWarnings: for a plan with the preset's own step size, Warnings names the field, the danger
// and the remedy. For a step size that the author chose there is no warning.
func TestWarnings(t *testing.T) {
	for _, info := range preset.List() {
		p := planOf(t, info.Name)
		got := preset.Warnings(p)
		if p.StepAuto != 0 {
			if got != nil || strings.Contains(info.Notes, "of nine steps") {
				t.Errorf("%s finds its step, and has %q and the notes %s", info.Name, got, info.Notes)
			}
			p.StepAuto, p.StepSize = 0, 0.1
			if got := preset.Warnings(p); got != nil {
				t.Errorf("%s with a step of the author's: %q", info.Name, got)
			}
			continue
		}
		field, at := "step", &p.StepSize
		if p.ServerStep > 0 {
			field, at = "server_step", &p.ServerStep
		}
		if len(got) != 1 {
			t.Fatalf("%s has %d warnings, want 1", info.Name, len(got))
		}
		for _, part := range []string{fmt.Sprintf("%s=%v ", field, *at), "learn next to nothing",
			"diverge", "zofl tune", "--preset zofl"} {
			if !strings.Contains(got[0], part) {
				t.Errorf("%s: no %q in %s", info.Name, part, got[0])
			}
		}
		if *at *= 4; preset.Warnings(p) != nil {
			t.Errorf("%s with 4 times the step: %q", info.Name, preset.Warnings(p))
		}
	}
	if got := preset.Warnings(&plan.Plan{
		Preset:      "mine",
		LocalFields: plan.LocalFields{StepSize: 1},
	}); got != nil {
		t.Errorf("a plan of no preset: %q", got)
	}
}
