package planfile_test

import (
	"strings"
	"testing"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/planfile"
)

// TestNearest: for a mistyped name nearest returns the intended name, and for any other name "".
func TestNearest(t *testing.T) {
	for name, want := range map[string]string{
		"memebrs": "members", "Mu": "mu", "stepz": "steps", "pertubations": "perturbations",
		"deadlin": "deadline", "quroum": "quorum", "learning_rate": "", "x": "", "": "",
		strings.Repeat("members", 1e5): "",
	} {
		err := planfile.Set(&plan.Plan{}, name, "1")
		if err == nil {
			t.Fatalf("%q: a field has this name", name)
		}
		_, after, found := strings.Cut(err.Error(), "did you mean ")
		got, _, _ := strings.Cut(after, "?")
		if got != want || found != (want != "") || !strings.Contains(err.Error(), "zofl plan --fields") {
			t.Errorf("%.20q: got %q, want %q", name, got, want)
		}
	}
}
