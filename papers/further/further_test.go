package further

import (
	"math"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/zofl/zofl/papers/ideas"
	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/lab/labtest"
)

// TestFurther runs two ideas for a few rounds, and then again from the saved points.
func TestFurther(t *testing.T) {
	dir := t.TempDir()
	env := func() *lab.Env {
		return &lab.Env{Generated: 600, Short: true, Dir: dir, Arms: []string{"orthogonal", "p5-bytes"}}
	}
	first := labtest.Run(t, Experiment(), env())
	if len(first.Summary.Rows) != 3 || len(first.Summary.Columns) != 4 || len(first.Claims) != 2 {
		t.Errorf("%d rows, %d columns, %d claims, want 3, 4 and 2: %+v", len(first.Summary.Rows),
			len(first.Summary.Columns), len(first.Claims), first.Summary)
	}
	labtest.Untold(t, first, 2)
	if !first.Screened || strings.Contains(first.Summary.Columns[0], "spared spared") {
		t.Errorf("not marked as screened: %+v", first.Summary.Columns)
	}
	files, err := filepath.Glob(filepath.Join(dir, "further", "*", "*.json"))
	if err != nil || len(files) < 2*3*2 {
		t.Errorf("%d runs are saved, %v, want two steps or more of 3 arms on 2 tasks", len(files), err)
	}
	changed := []ideas.Point{{Rounds: 1, Accuracy: 1}}
	for _, file := range files {
		if strings.Contains(file, "mnist-softmax") && strings.Contains(file, "orthogonal-") {
			err = lab.Save(file, &changed)
		}
	}
	again := labtest.Run(t, Experiment(), env())
	if err != nil || !strings.HasPrefix(again.Summary.Rows[1][1], "**100.00") {
		t.Errorf("what was saved is not in %v, %v", again.Summary.Rows[1], err)
	}
	if !slices.Equal(again.Summary.Rows[0], first.Summary.Rows[0]) {
		t.Errorf("again %v, first %v", again.Summary.Rows[0], first.Summary.Rows[0])
	}
}

// TestFurtherEqual: an arm of equal bytes or samples spends as many as the recipe.
func TestFurtherEqual(t *testing.T) {
	e := &lab.Env{Generated: 600, Short: true, Arms: []string{"p5-bytes", "p5", "b400-samples"},
		Tasks: []string{"mnist-softmax"}}
	r := labtest.Run(t, Experiment(), e)
	last := map[string][]string{}
	for _, row := range r.Table.Rows {
		last[row[1]] = row
	}
	queries, bytes, samples := column(t, last, 5), column(t, last, 6), column(t, last, 7)
	if samples["b400-samples"] != samples["recipe"] {
		t.Errorf("samples %v", samples)
	}
	if bytes["p5-bytes"] < bytes["recipe"] || bytes["p5-bytes"] > 1.1*bytes["recipe"] {
		t.Errorf("bytes %v", bytes)
	}
	if queries["p5"] < queries["recipe"] || queries["p5"] > 1.1*queries["recipe"] ||
		bytes["p5"] < 1.1*bytes["recipe"] {
		t.Errorf("queries %v, bytes %v", queries, bytes)
	}
}

// column returns a column of rows as numbers.
func column(t *testing.T, rows map[string][]string, at int) map[string]float64 {
	t.Helper()
	out := map[string]float64{}
	for name, row := range rows {
		v, err := strconv.ParseFloat(row[at], 64)
		if err != nil {
			t.Fatal(err)
		}
		out[name] = v
	}
	return out
}

// TestFurtherArms: names are one of a kind, and the ideas of every task's model can run.
func TestFurtherArms(t *testing.T) {
	for _, s := range []study{broadStudy(), finishStudy(0)} {
		var names []string
		for _, a := range s.arms {
			if slices.Contains(names, a.name) {
				t.Errorf("two arms are %s", a.name)
			}
			names = append(names, a.name)
		}
		if names[0] != "recipe" {
			t.Errorf("the first arm is %s", names[0])
		}
	}
	if _, err := newTrial(lab.NewTrial(t.Context(), &lab.Env{Arms: []string{"nonsense"}}, "further"),
		broadStudy()); err == nil {
		t.Error("an arm that is not there was taken")
	}
	e := &lab.Env{Generated: 600, Short: true, Arms: []string{"more-b"},
		Tasks: []string{"fashion-cnn"}}
	if r := labtest.Run(t, Experiment(), e); len(r.Summary.Rows) != 2 {
		t.Errorf("%+v", r.Summary)
	}
}

// TestFurtherWins: an idea wins where each seed ends above the recipe's, by more than its spread.
func TestFurtherWins(t *testing.T) {
	of := func(final ...float64) *result {
		r := &result{arm: &arm{}}
		for _, v := range final {
			r.seeds = append(r.seeds, []ideas.Point{
				{Accuracy: v - 0.2, Spent: ideas.Spent{Queries: 5}},
				{Accuracy: v, Spent: ideas.Spent{Queries: 10}}})
		}
		return r
	}
	recipe := of(0.8, 0.82)
	for _, c := range []struct {
		r     *result
		wins  bool
		reach float64
	}{
		{of(0.84, 0.85), true, 1}, {of(0.9, 0.81), false, 1}, {of(0.81, 0.83), false, 1},
		{of(1.1, 1.1), true, 0.5},
	} {
		if c.r.wins(recipe) != c.wins || c.r.reach(recipe) != c.reach {
			t.Errorf("%v: wins %v, reach %v", c.r.final(), c.r.wins(recipe), c.r.reach(recipe))
		}
	}
	if v := of(0.5).reach(recipe); v == v {
		t.Errorf("reached at %v", v)
	}
}

// TestFurtherScore: of diverged runs the one with the smallest step is best. Any other is better.
func TestFurtherScore(t *testing.T) {
	of := func(step, accuracy, loss float64) *result {
		return &result{step: step, seeds: [][]ideas.Point{{{Accuracy: accuracy, Loss: loss}}}}
	}
	list := []*result{of(0.64, 0.18, 1e30), of(0.32, 0.13, math.NaN()), of(0.16, 0.09, math.Inf(1)),
		of(0.08, 0.05, 25), of(0.04, 0.7, 0.8)}
	for i, r := range list[1:] {
		if r.score() <= list[i].score() {
			t.Errorf("the score of step %g is %g, of %g %g: want it higher", r.step, r.score(),
				list[i].step, list[i].score())
		}
	}
}

// TestFinish: the ends of the same queries run, with P=19 unless an end says otherwise.
func TestFinish(t *testing.T) {
	e := &lab.Env{Generated: 600, Short: true, Arms: []string{"auto", "fall-p"}}
	r := labtest.Run(t, Finish(), e)
	if len(r.Summary.Rows) != 3 || len(r.Summary.Columns) != 4 || !r.Screened {
		t.Fatalf("%+v: want three rows of two tasks, marked as screened", r.Summary)
	}
	last := map[string][]string{}
	for _, row := range r.Table.Rows {
		last[row[1]] = row
	}
	rounds, queries := column(t, last, 4), column(t, last, 5)
	for _, name := range []string{"recipe", "auto"} {
		if queries[name] != 20*rounds[name] {
			t.Errorf("%s: %v queries in %v rounds, want 20 in each", name, queries[name], rounds[name])
		}
	}
	if most := queries["recipe"] + 20; rounds["fall-p"] >= rounds["recipe"]*2 ||
		queries["fall-p"] > most {
		t.Errorf("rounds %v, queries %v", rounds, queries)
	}
}

// TestFinishRounds: a run has as many rounds as are asked for.
func TestFinishRounds(t *testing.T) {
	e := &lab.Env{Generated: 600, Seeds: 1, Rounds: 6, Tasks: []string{"mnist-mlp"},
		Arms: []string{"calm"}}
	r := labtest.Run(t, Finish(), e)
	for _, row := range r.Table.Rows {
		if n, err := strconv.Atoi(row[4]); err != nil || n > 6 {
			t.Fatalf("%v: want at most 6 rounds", row)
		}
	}
	if last := r.Table.Rows[len(r.Table.Rows)-1]; last[4] != "6" {
		t.Errorf("the last is %v, want 6 rounds", last)
	}
}

// TestKey checks that this version finds the runs that older versions saved, whose names have a
// digest of this text.
func TestKey(t *testing.T) {
	const want = "{defaultsTask:{name:fashion-cnn data:fashion-mnist shrink:2 scale: hidden:[] " +
		"dirichlet:0 devices:0 train:60000 test:10000} cnn:true}"
	list := imageTasks()
	if got := list[len(list)-1].key(); got != want {
		t.Errorf("the key is\n%s\nwant\n%s", got, want)
	}
}

// TestMany: fewer groups of the same devices take fewer bytes, and only as many groups as there are
// contributors are own directions.
func TestMany(t *testing.T) {
	r := labtest.Run(t, Many(), &lab.Env{Generated: 600, Short: true, Rounds: 2})
	if !r.Screened || len(r.Summary.Rows) != len(fleets[0].groups)+len(fleets[1].groups) {
		t.Fatalf("screened %v, rows %v", r.Screened, r.Summary.Rows)
	}
	last := map[string][]string{}
	for _, row := range r.Table.Rows {
		last[row[1]] = row
	}
	bytes := column(t, last, 6)
	if !(0 < bytes["100-in-1"] && bytes["100-in-1"] < bytes["100-in-20"] &&
		bytes["100-in-20"] < bytes["100-in-50"]) {
		t.Errorf("bytes %v", bytes)
	}
	for _, f := range fleets {
		for i, a := range manyStudy(f.contributors, f.groups).arms {
			if want := f.groups[i] % f.contributors; a.Groups != want {
				t.Errorf("%s has %d groups, want %d", a.name, a.Groups, want)
			}
		}
	}
}
