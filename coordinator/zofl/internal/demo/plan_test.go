package demo

import (
	"strings"
	"testing"
	"time"

	"github.com/zofl/zofl/internal/grouping"
	"github.com/zofl/zofl/plan/preset"
)

// TestPlansOfMethods: every method has a recipe with which the default devices can train, and a
// deadline that no slow machine reaches.
func TestPlansOfMethods(t *testing.T) {
	for _, method := range preset.Names() {
		if _, ok := recipes[method]; !ok {
			t.Errorf("%s has no recipe", method)
		}
		cfg := Defaults()
		cfg.Method = method
		p, note, err := planOf(cfg)
		if err != nil {
			t.Errorf("%s: %v", method, err)
			continue
		}
		if got := time.Duration(p.Deadline) * time.Millisecond; got < time.Hour {
			t.Errorf("%s: a round may take %v", method, got)
		}
		if note != "" || p.Preset != method || p.Target != uint32(cfg.Clients) || p.Rounds == 0 {
			t.Errorf("%s: %+v", method, p)
		}
	}
	if len(recipes) != len(preset.Names()) {
		t.Errorf("%d recipes of %d methods", len(recipes), len(preset.Names()))
	}
}

// TestSettingsOverrideRecipes: settings on the command line override those of a recipe.
func TestSettingsOverrideRecipes(t *testing.T) {
	cfg := Defaults()
	cfg.Method, cfg.Rounds = "fedzo", 7
	cfg.Settings = []string{"steps=2", "step=0.5", "deadline=5000"}
	p, note, err := planOf(cfg)
	if err != nil || note != "" || p.Rounds != 7 || p.Steps != 2 || p.StepSize != 0.5 ||
		p.Deadline != 5000 {
		t.Errorf("%+v, %v", p, err)
	}
}

// TestManyClients: a demo with more devices than announcements can name draws some 16 groups, and
// its note says so. Groups that the coordinator must name are refused.
func TestManyClients(t *testing.T) {
	cfg := Defaults()
	cfg.Clients = 200
	for _, settings := range [][]string{nil, {"sharing=groups"}} {
		cfg.Settings = settings
		p, note, err := planOf(cfg)
		if err != nil || p.Target != 200 || !grouping.Draws(p) || grouping.Count(p) != 16 ||
			!strings.HasPrefix(note, "target=200 ") || !strings.Contains(note, " groups=random ") {
			t.Errorf("%v: %+v, %q, %v", settings, p, note, err)
		}
	}
	cfg.Settings = []string{"groups=sketch", "group_size=5"}
	if p, note, err := planOf(cfg); err == nil || note != "" {
		t.Errorf("named groups of 200 devices: %+v, %q", p, note)
	}
}

// TestClasses: a demo has the classes of its images, or none.
func TestClasses(t *testing.T) {
	cfg := Defaults()
	for classes, wants := range map[string]string{"10": "", "0": "", "12": "classes=10"} {
		cfg.Settings = []string{"sharing=groups", "groups=sketch", "group_size=5", "regroup=10",
			"classes=" + classes}
		_, _, err := planOf(cfg)
		if wants == "" && err != nil || wants != "" && (err == nil ||
			!strings.Contains(err.Error(), wants)) {
			t.Errorf("classes=%s: %v, want %q", classes, err, wants)
		}
	}
}
