package beyond

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/zofl/zofl/papers/contest"
	"github.com/zofl/zofl/papers/contest/contesttest"
	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/lab/labtest"
	"github.com/zofl/zofl/papers/run"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/planfile"
)

// TestRecipes: each recipe is a valid plan with a unique name, and takes as many queries a
// round as plain DeComFL, or a multiple.
func TestRecipes(t *testing.T) {
	s, err := (&lab.Env{Generated: 200}).MNIST()
	if err != nil {
		t.Fatal(err)
	}
	for _, short := range []bool{false, true} {
		for _, l := range leaguesOf(&lab.Env{Short: short}) {
			names := map[string]bool{}
			for _, c := range l.recipes {
				for _, step := range c.Steps {
					one, err := l.contest(s).Enter(c, step)
					if err != nil {
						t.Fatal(err)
					}
					p := contesttest.Plan(t, one, names)
					if q := p.Queries(p.Perturbations); p.PerturbationSchedule == nil && q%20 != 0 {
						t.Errorf("%s: %d queries a round", one.Name, q)
					}
				}
			}
			if plain := l.recipes[0]; plain.Name != "p10" ||
				!slices.Contains(plain.Set, "difference=central") {
				t.Errorf("%v: the first recipe is %+v, want plain DeComFL", &l, plain)
			}
		}
	}
}

// TestPresetIsARecipe: the preset equals its recipe.
func TestPresetIsARecipe(t *testing.T) {
	list := cnnRecipes()
	own := list[len(list)-1]
	plan := func(c contest.Method) *plan.Plan {
		if c.Preset == "" {
			c.Preset = "decomfl"
		}
		p, err := run.Plan(c.Preset, "same", 1, 10, 10, 3)
		if err != nil {
			t.Fatal(err)
		}
		c.Fields(p, 1e-3)
		p.Preset = ""
		return p
	}
	got, err := json.Marshal((*planfile.Plan)(plan(own)))
	if err != nil {
		t.Fatal(err)
	}
	want, err := json.Marshal((*planfile.Plan)(plan(find(list, "adam"))))
	if err != nil || string(want) != string(got) {
		t.Errorf("%v: the preset is\n%s\nits recipe\n%s", err, got, want)
	}
}

// TestLeague runs a league on a few digits.
func TestLeague(t *testing.T) {
	if testing.Short() {
		t.Skip("arithmetic, long under the race detector")
	}
	list := softmaxRecipes()
	l := league{clients: 10, batch: 8, queries: 800, times: 5, plain: 1, seeds: 2,
		recipes: []contest.Method{list[0].At(1e-3, 50), find(list, "adam").At(1e-2),
			list[len(list)-1].At(1e-2)}}
	x := newTrial(lab.NewTrial(t.Context(), &lab.Env{Generated: 300, Logf: t.Logf}, "beyond"),
		[]league{l})
	if err := x.all(); err != nil {
		t.Fatal(err)
	}
	if len(x.Report.Claims) != 2*2+2 || len(x.Report.Figure.Lines) != 3*2 {
		t.Errorf("%d claims, %d lines, want 6 and 6: %+v",
			len(x.Report.Claims), len(x.Report.Figure.Lines), x.Report.Claims)
	}
	if text := x.Report.Claims[0].Figures; !strings.Contains(text, "DeComFL, P=10 (step 0.001)") {
		t.Errorf("%s: want the step chosen that does not diverge", text)
	}
	for _, c := range x.Report.Claims[:2] {
		if strings.Contains(c.Figures, "accuracy 0.0000") || strings.Contains(c.Figures, "Inf") {
			t.Errorf("%s: %s: want runs that end as they should", c.Claim, c.Figures)
		}
	}
}

// TestStopped: a stopped contest reports the results so far.
func TestStopped(t *testing.T) {
	if testing.Short() {
		t.Skip("arithmetic, long under the race detector")
	}
	if r := labtest.Stopped(t, Experiment(), 300); len(r.Claims) > 0 {
		t.Errorf("got %+v, want a report without claims", r)
	}
}
