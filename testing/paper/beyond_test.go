package paper

import (
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/zofl/zofl/testing/paper/lab"
	"github.com/zofl/zofl/testing/paper/lab/labtest"
	"github.com/zofl/zofl/testing/paper/run"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/planfile"
	"github.com/zofl/zofl/wire/valid"
)

// spentCurve returns a curve measured after every second round, with 10 queries and 100
// bytes a round.
func spentCurve(ended string, accuracies ...float64) *run.Curve {
	c := &run.Curve{Name: "spent", Seed: 1,
		Metrics: []string{run.TestLoss, run.Accuracy}, Ended: ended}
	for i, v := range accuracies {
		n := uint64(2*i + 1)
		c.Points = append(c.Points,
			run.Point{Round: n, Queries: 10 * n, Bytes: 100 * n},
			run.Point{Round: n + 1, Queries: 10 * (n + 1), Bytes: 100 * (n + 1),
				Values: []float64{1 - v, v}})
	}
	return c
}

func TestReached(t *testing.T) {
	whole, diverged := spentCurve("rounds", .2, .4, .8), spentCurve("diverged: far", .2, .4)
	for _, test := range []struct {
		curve  *run.Curve
		metric string
		of     cost
		budget uint64
		want   float64
	}{
		{whole, run.Accuracy, queriesOf, 20, .2},
		{whole, run.Accuracy, queriesOf, 40, .4},
		{whole, run.Accuracy, queriesOf, 50, .6},
		{whole, run.Accuracy, bytesOf, 300, .3},
		{whole, run.TestLoss, bytesOf, 500, .4},
		{whole, run.Accuracy, queriesOf, 5, .2},
		{whole, run.Accuracy, queriesOf, math.MaxUint64, .8},
		{diverged, run.Accuracy, queriesOf, 30, .3}, // before its end
		{diverged, run.Accuracy, queriesOf, 40, 0},
		{diverged, run.TestLoss, queriesOf, 60, math.Inf(1)},
		{&run.Curve{Ended: "paused: early"}, run.Accuracy, queriesOf, 1, 0},
	} {
		got := reached(test.curve, test.metric, test.of, test.budget)
		if got != test.want && !(math.Abs(got-test.want) < 1e-12) {
			t.Errorf("%s, %s within %d: %v, want %v",
				test.curve.Ended, test.metric, test.budget, got, test.want)
		}
	}
}

// entryOf returns an entry with made-up runs.
func entryOf(name string, curves ...*run.Curve) *entry {
	e := &entry{contestant: contestant{name: name, title: name}, chosen: 1}
	for _, c := range curves {
		e.results = append(e.results, &run.Result{Curve: c})
	}
	return e
}

func TestBeats(t *testing.T) {
	long, short := entryOf("long", spentCurve("rounds", .2, .4, .8)),
		entryOf("short", spentCurve("rounds", .3, .5))
	gone := entryOf("gone", spentCurve("diverged: far", .9))
	if at := budget(queriesOf, long, short, gone); at != 40 {
		t.Errorf("the budget is %d queries, want the shorter's 40", at)
	}
	r := &lab.Report{}
	beats(r, "short", short, long)
	beats(r, "gone", gone, long)
	var got []bool
	for _, c := range r.Claims {
		got = append(got, c.Holds)
	}
	if want := []bool{true, true, false, false}; !slices.Equal(got, want) {
		t.Errorf("claims hold: %v, want %v: %+v", got, want, r.Claims)
	}
	if text := r.Claims[2].Figures; !strings.Contains(text, "seed 1 diverged at round 2") {
		t.Errorf("%s: want it to say which run diverged", text)
	}
	if best := bestBy([]*entry{long, short, gone}, queriesOf, 40); best != short {
		t.Errorf("%s is best, want short", best.name)
	}
}

func TestAffordable(t *testing.T) {
	for _, test := range []struct {
		set  []string
		want uint64
	}{
		{[]string{"difference=central", "perturbations=10"}, 10},
		{[]string{"difference=forward", "perturbations=19"}, 10},
		{[]string{"difference=forward", "perturbations=9",
			`perturbation_schedule=[{"round":11,"perturbations":19}]`}, 15},
		{[]string{"difference=forward", "perturbations=9", "steps=2", "control=scaffold-1"}, 5},
		{[]string{"difference=central", "perturbations=500"}, 1},
	} {
		p, err := run.Plan("decomfl", "afford", 1, 10, 10, 3)
		if err != nil {
			t.Fatal(err)
		}
		c := contestant{set: test.set}
		c.fields(p, 1)
		if got := affordable(p, 200); got != test.want {
			t.Errorf("%v: %d rounds, want %d", test.set, got, test.want)
		}
	}
}

// TestRecipes: each recipe is a valid plan with a unique name, and takes as many queries a
// round as plain DeComFL, or a multiple.
func TestRecipes(t *testing.T) {
	s, err := (&lab.Env{Generated: 200}).MNIST()
	if err != nil {
		t.Fatal(err)
	}
	for _, short := range []bool{false, true} {
		for _, l := range beyondSize(&lab.Env{Short: short}) {
			names := map[string]bool{}
			for _, c := range l.recipes {
				for _, step := range c.steps {
					one, err := l.contest(s).enter(c, step)
					if err != nil {
						t.Fatal(err)
					}
					p, err := run.Plan(one.Preset, one.Name, 99, one.Task.Dim, one.Clients, one.Asked)
					if err != nil {
						t.Fatal(err)
					}
					one.Set(p)
					if err := valid.Plan(p); err != nil {
						t.Errorf("%s: %v", one.Name, err)
					}
					if names[one.Name] || len(one.Name) != 24 {
						t.Errorf("%s is there twice, or too long to be as long as others", one.Name)
					}
					names[one.Name] = true
					if q := p.Queries(p.Perturbations); p.PerturbationSchedule == nil && q%20 != 0 {
						t.Errorf("%s: %d queries a round", one.Name, q)
					}
				}
			}
			if plain := l.recipes[0]; plain.name != "p10" ||
				!slices.Contains(plain.set, "difference=central") {
				t.Errorf("%v: the first recipe is %+v, want plain DeComFL", &l, plain)
			}
		}
	}
}

// TestPresetIsARecipe: the preset equals its recipe.
func TestPresetIsARecipe(t *testing.T) {
	list := cnnRecipes()
	own := list[len(list)-1]
	plan := func(c contestant) *wire.Plan {
		if c.preset == "" {
			c.preset = "decomfl"
		}
		p, err := run.Plan(c.preset, "same", 1, 10, 10, 3)
		if err != nil {
			t.Fatal(err)
		}
		c.fields(p, 1e-3)
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

// TestBeyond runs a league on a few digits.
func TestBeyond(t *testing.T) {
	if testing.Short() {
		t.Skip("arithmetic, long under the race detector")
	}
	list := softmaxRecipes()
	l := beyondLeague{clients: 10, batch: 8, queries: 800, times: 5, plain: 1, seeds: 2,
		recipes: []contestant{list[0].at(1e-3, 50), find(list, "adam").at(1e-2),
			list[len(list)-1].at(1e-2)}}
	x := newBeyondRun(t.Context(), &lab.Env{Generated: 300, Logf: t.Logf}, "beyond", []beyondLeague{l})
	if err := x.all(); err != nil {
		t.Fatal(err)
	}
	if len(x.report.Claims) != 2*2+2 || len(x.report.Figure.Series) != 3*2 {
		t.Errorf("%d claims, %d lines, want 6 and 6: %+v",
			len(x.report.Claims), len(x.report.Figure.Series), x.report.Claims)
	}
	if text := x.report.Claims[0].Figures; !strings.Contains(text, "DeComFL, P=10 (step 0.001)") {
		t.Errorf("%s: want the step chosen that does not diverge", text)
	}
	for _, c := range x.report.Claims[:2] {
		if strings.Contains(c.Figures, "accuracy 0.0000") || strings.Contains(c.Figures, "Inf") {
			t.Errorf("%s: %s: want runs that end as they should", c.Claim, c.Figures)
		}
	}
}

// TestBeyondStopped: a stopped contest reports the results so far.
func TestBeyondStopped(t *testing.T) {
	if testing.Short() {
		t.Skip("arithmetic, long under the race detector")
	}
	if r := labtest.Stopped(t, beyond(), 300); len(r.Claims) > 0 {
		t.Errorf("got %+v, want a report without claims", r)
	}
}
