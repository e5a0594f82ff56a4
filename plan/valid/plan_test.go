package valid_test

import (
	"strings"
	"testing"

	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/plancheck"
	"github.com/zofl/zofl/plan/preset"
)

// planOf returns the plan of a preset, for run mnist over 100 parameters.
func planOf(t testing.TB, name string) *plan.Plan {
	t.Helper()
	p, err := preset.Unbound(name, "mnist", 100)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestMembersRemedy: the error for more contributors than devices says which numbers fit together.
func TestMembersRemedy(t *testing.T) {
	p := planOf(t, "decomfl")
	p.Members, p.Target, p.Quorum = 3, 5, 5
	if err := plancheck.Validate(p); err == nil || !strings.Contains(err.Error(), "set quorum=3") {
		t.Errorf("3 members and a quorum of 5: %v", err)
	}
}
