package untouched

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/lab/labtest"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/plancheck"
	"github.com/zofl/zofl/plan/preset"
)

// small returns the environment of the experiment on two tasks of generated data, for a few
// rounds.
func small(dir string) *lab.Env {
	return &lab.Env{Generated: 300, Dir: dir, Seeds: 1, Rounds: 3, Presets: []string{"decomfl"},
		Tasks: []string{"digits-softmax", "covtype-mlp"}}
}

// TestDefaults runs the experiment, and then runs it again from the saved scores.
func TestDefaults(t *testing.T) {
	dir := t.TempDir()
	first := labtest.Run(t, Experiment(), small(dir))
	if len(first.Table.Rows) != 2*9 || len(first.Claims) != 1 || len(first.Summary.Rows) != 2 {
		t.Errorf("%d runs, %d claims, %d rows, want 18, 1 and 2: %+v",
			len(first.Table.Rows), len(first.Claims), len(first.Summary.Rows), first.Claims)
	}
	labtest.Untold(t, first, 1)
	files, err := filepath.Glob(filepath.Join(dir, "defaults", "*", "*.json"))
	if err != nil || len(files) != 18 {
		t.Fatalf("%d scores are saved, %v", len(files), err)
	}
	text, err := json.Marshal(&score{Rounds: 3, Accuracy: 0.9876, Ended: "rounds"})
	if err != nil {
		t.Fatal(err)
	}
	own := slices.IndexFunc(files, func(name string) bool {
		return strings.Contains(name, "digits-softmax") && strings.Contains(name, "decomfl-0_001-1")
	})
	if err := os.WriteFile(files[own], text, 0o644); err != nil {
		t.Fatal(err)
	}
	again := labtest.Run(t, Experiment(), small(dir))
	if got := again.Summary.Rows[0][2]; got != "98.8" {
		t.Errorf("the second time the untouched preset has %s, want the saved 98.8", got)
	}
	for i, row := range again.Table.Rows {
		if row[14] != "0.9876" && !slices.Equal(row, first.Table.Rows[i]) {
			t.Errorf("the second time %v, the first %v", row, first.Table.Rows[i])
		}
	}
	if err := os.WriteFile(files[own], []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	x := Experiment()
	_, err = x.Run(t.Context(), small(dir))
	if err == nil || !strings.Contains(err.Error(), "remove it") {
		t.Errorf("a torn score: %v", err)
	}
}

// TestDefaultsStopped checks that a stopped experiment continues with the saved scores.
func TestDefaultsStopped(t *testing.T) {
	whole := labtest.Run(t, Experiment(), small(""))
	dir, x := t.TempDir(), Experiment()
	ctx, cancel := context.WithCancel(t.Context())
	e, lines := small(dir), 0
	e.Logf = func(string, ...any) {
		if lines++; lines == 4 {
			cancel()
		}
	}
	r, err := x.Run(ctx, e)
	if !errors.Is(err, context.Canceled) || r == nil || len(r.Claims) > 0 || len(r.Table.Rows) == 0 {
		t.Errorf("got %+v and %v, want runs, no claims and canceled", r, err)
	}
	if got := labtest.Run(t, Experiment(), small(dir)); !slices.EqualFunc(got.Table.Rows,
		whole.Table.Rows, slices.Equal[[]string]) {
		t.Errorf("after a stop:\n%v\nwithout one:\n%v", got.Table.Rows, whole.Table.Rows)
	}
}

// TestDefaultsShort runs the short form of the experiment.
func TestDefaultsShort(t *testing.T) {
	if testing.Short() {
		t.Skip("arithmetic, long under the race detector")
	}
	r := labtest.Run(t, Experiment(), &lab.Env{Short: true, Generated: 1000})
	if len(r.Claims) != 2 || len(r.Table.Rows) != 2*2*3 {
		t.Errorf("%d claims of %d runs, want 2 of 12", len(r.Claims), len(r.Table.Rows))
	}
	if best := r.Summary.Rows[2][2]; !strings.HasSuffix(best, ", decomfl-adam") {
		t.Errorf("the best on drawn digits is %s", best)
	}
}

// TestDefaultsPlans: every preset has a plan that can run on every task, or the reason is
// that it is not for models of that size; and nothing of the preset was changed.
func TestDefaultsPlans(t *testing.T) {
	e := &lab.Env{Generated: 200}
	size, err := sizeOf(e)
	if err != nil {
		t.Fatal(err)
	}
	if len(size.tasks) != 8 || !slices.Equal(size.presets, preset.Names()) {
		t.Fatalf("%d tasks and %v, want 8 and all presets", len(size.tasks), size.presets)
	}
	x := newTrial(lab.NewTrial(t.Context(), e, "defaults"), size)
	for _, task := range size.tasks {
		b, err := newBench(e, task)
		if err != nil {
			t.Fatal(err)
		}
		if b.task.Dim < 100 || b.task.Dim > 10_000 || b.Devices < 3 || b.Devices > 20 {
			t.Errorf("%s: %d parameters, %d devices", b.Name, b.task.Dim, b.Devices)
		}
		for _, name := range size.presets {
			p, devices, err := x.plan(b, name, 1)
			if err != nil {
				t.Fatal(err)
			}
			if err := plancheck.Validate(p); err != nil && tooMuch(p) == "" {
				t.Errorf("%s on %s: %v", name, b.Name, err)
			}
			untouched, err := preset.Unbound(name, "probe", p.Dim)
			if err != nil {
				t.Fatal(err)
			}
			if p.Batch != untouched.Batch || p.StepSize != untouched.StepSize ||
				p.Perturbations != untouched.Perturbations || p.ServerStep != untouched.ServerStep {
				t.Errorf("%s on %s: the preset was changed", name, b.Name)
			}
			if name == "mezo" && devices != 1 {
				t.Errorf("mezo has %d devices", devices)
			}
		}
	}
}

// scored returns a variant with runs of these accuracies. A negative accuracy stands for a run
// that diverged.
func scored(power int, accuracies ...float64) *variant {
	t := &variant{power: power, untouched: power == 0, field: "step"}
	for _, a := range accuracies {
		s := &score{Accuracy: a, Loss: 1 - a, Ended: "rounds"}
		if a < 0 {
			s.Ended = "diverged: far"
		}
		t.scores = append(t.scores, s)
	}
	return t
}

func TestDefaultsCell(t *testing.T) {
	made := func(limit float64, low, own, high *variant) *cell {
		return &cell{limit: limit, own: own, grid: []*variant{low, own, high}}
	}
	for _, test := range []struct {
		cell   *cell
		within bool
		text   string
	}{
		{made(3, scored(-1, .5, .5), scored(0, .8, .9), scored(1, .85, .9)), true, "85.0, 87.5 at x4*"},
		{made(1.5, scored(-1, .5, .5), scored(0, .8, .9), scored(1, .85, .9)), false,
			"85.0, 87.5 at x4*"},
		{made(3, scored(-1, .5, .5), scored(0, .8, .9), scored(1, -1, 1)), true, "85.0"},
		{made(3, scored(-1, .5, .5), scored(0, .8, -1), scored(1, -1, -1)), false,
			"diverged, 50.0 at x1/4*"},
		{&cell{refused: "no room"}, false, "refused: no room"},
		{&cell{unfit: "too large"}, false, "not run: too large"},
	} {
		within := test.cell.ran() && test.cell.within()
		if got := test.cell.text(); got != test.text || within != test.within {
			t.Errorf("%s, within is %v, want %s, %v", got, within, test.text, test.within)
		}
	}
	if limit("zofl") != 1.5 || limit("decomfl") != 3 {
		t.Error("the limits are 1.5 points for the default, 3 for others")
	}
}

// TestDefaultsFinds checks that for a preset whose devices find the step size, the grid does not
// contain the preset without changes.
func TestDefaultsFinds(t *testing.T) {
	x := newTrial(lab.NewTrial(t.Context(), &lab.Env{}, "defaults"),
		&size{powers: []int{-1, 0, 1}})
	p, err := preset.Unbound("fedzo", "finds", 10)
	if err != nil {
		t.Fatal(err)
	}
	for step, want := range map[float32]int{1e-3: 3, 0: 4} {
		p.StepSize = step
		list := x.trials(p)
		if len(list) != want {
			t.Fatalf("step %v: %d trials, want %d", step, len(list), want)
		}
		for i, trial := range list {
			pl := *p
			if err := trial.set(&pl); err != nil {
				t.Fatal(err)
			}
			if trial.untouched != (i == want-3+1 && want == 3 || i == 0 && want == 4) {
				t.Errorf("step %v: trial %d is untouched: %v", step, i, trial.untouched)
			}
			if trial.untouched && pl.StepSize != step || !trial.untouched &&
				(pl.StepSize != trial.step || pl.StepDecay != plan.SlowSqrt && want == 4) {
				t.Errorf("step %v: trial %d has step %v and decay %v", step, i, pl.StepSize,
					pl.StepDecay)
			}
		}
	}
	own := scored(0, .8)
	own.field = ""
	c := &cell{limit: 1.5, own: own, grid: []*variant{scored(-1, .5), scored(0, .81),
		scored(1, .7)}}
	c.grid[1].step = 0.04
	if c.text() != "80.0, 81.0 at step 0.04" || !c.within() {
		t.Errorf("%s, within is %v", c.text(), c.within())
	}
	own.scores[0].Accuracy = 0.82
	if c.text() != "82.0" || !c.within() || c.gap() > -0.9 {
		t.Errorf("%s, gap %v: want it ahead of the grid", c.text(), c.gap())
	}
}

func TestDefaultsChoice(t *testing.T) {
	for _, e := range []*lab.Env{{Presets: []string{"nonsense"}}, {Tasks: []string{"nonsense"}}} {
		_, err := Experiment().Run(t.Context(), e)
		if err == nil ||
			!strings.HasPrefix(err.Error(), "--presets nonsense: choose among cma, decomfl") &&
				!strings.HasPrefix(err.Error(), "--tasks nonsense: choose among mnist-softmax") {
			t.Errorf("%+v: %v", e, err)
		}
	}
	e := &lab.Env{Data: t.TempDir(), Tasks: []string{"a9a-softmax"}}
	_, err := Experiment().Run(t.Context(), e)
	if err == nil || !strings.Contains(err.Error(), "tables") {
		t.Errorf("without the files: %v", err)
	}
}

// TestDefaultsData reads the real files, if they exist.
func TestDefaultsData(t *testing.T) {
	dir := os.Getenv("ZOFL_DATA")
	if dir == "" || testing.Short() {
		t.Skip("ZOFL_DATA is not set: the experiment runs on drawn data here")
	}
	for _, task := range eightTasks() {
		b, err := newBench(&lab.Env{Data: dir}, task)
		if err != nil {
			t.Fatal(err)
		}
		if b.drawn || len(b.labels) != task.Train || len(b.task.Metrics) != 2 {
			t.Errorf("%s: %d rows, drawn is %v", b.Name, len(b.labels), b.drawn)
		}
	}
}

// TestScreenDefaults checks that screened scores have files of their own, and no queries.
func TestScreenDefaults(t *testing.T) {
	e := small(t.TempDir())
	e.Screen = true
	r := labtest.Run(t, Experiment(), e)
	files, err := filepath.Glob(filepath.Join(e.Dir, "defaults-screened", "*", "*.json"))
	if err != nil || len(files) != len(r.Table.Rows) {
		t.Errorf("%d scores are saved, %v, want %d", len(files), err, len(r.Table.Rows))
	}
	at := slices.Index(r.Table.Columns, "queries")
	for _, row := range r.Table.Rows {
		if row[at] != "0" {
			t.Errorf("%s queries in %v", row[at], row)
		}
	}
	if !r.Screened || !strings.Contains(r.Summary.Columns[0], "screened by gradients") {
		t.Errorf("screened %v, summary %q", r.Screened, r.Summary.Columns)
	}
}
