package losses

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/lab/labtest"
	"github.com/zofl/zofl/plan/plancheck"
)

func small(dir string) *lab.Env {
	return &lab.Env{Dir: dir, Seeds: 1, Rounds: 8, Tasks: []string{"pid", "mixture"},
		Presets: []string{"zofl", "zofl-shared"}}
}

// TestLosses runs the experiment, and then again from the saved scores.
func TestLosses(t *testing.T) {
	if testing.Short() {
		t.Skip("trains 40 times")
	}
	dir := t.TempDir()
	first := labtest.Run(t, Experiment(), small(dir))
	if len(first.Table.Rows) != 2*2*10 || len(first.Claims) != 4 || len(first.Summary.Rows) != 4 {
		t.Errorf("%d runs, %d claims, %d rows, want 40, 4 and 4",
			len(first.Table.Rows), len(first.Claims), len(first.Summary.Rows))
	}
	own, err := filepath.Glob(filepath.Join(dir, "losses", "pid", "zofl-0-1-*.json"))
	if err != nil || len(own) != 1 {
		t.Fatalf("saved of the untouched preset: %v, %v", own, err)
	}
	if err := os.WriteFile(own[0], []byte(`{"start":2,"loss":-1e9,"ended":"rounds"}`),
		0o644); err != nil {
		t.Fatal(err)
	}
	again := labtest.Run(t, Experiment(), small(dir))
	if got := again.Table.Rows[0]; got[6] != "2" || got[7] != "-1e+09" {
		t.Errorf("the second time the first run is %v, want what was saved", got)
	}
	if !slices.EqualFunc(again.Table.Rows[1:], first.Table.Rows[1:], slices.Equal[[]string]) {
		t.Error("the second time other runs have other figures")
	}
	if err := os.WriteFile(own[0], []byte("{"), 0o644); err != nil {
		t.Fatal(err)
	}
	x := Experiment()
	_, err = x.Run(t.Context(), small(dir))
	if err == nil || !strings.Contains(err.Error(), "remove it") {
		t.Errorf("a torn score: %v", err)
	}
}

// TestLossesStopped checks that the report of a stopped experiment has the complete tasks.
func TestLossesStopped(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	x, e := Experiment(), small("")
	e.Logf = func(_ string, args ...any) {
		if len(args) == 3 { // a preset on a task
			cancel()
		}
	}
	r, err := x.Run(ctx, e)
	if !errors.Is(err, context.Canceled) || r == nil || len(r.Table.Rows) != 10 {
		t.Errorf("got %+v and %v, want ten runs and canceled", r, err)
	}
}

// TestLossesShort: untouched, the short form gets near the best of its steps.
func TestLossesShort(t *testing.T) {
	if testing.Short() {
		t.Skip("arithmetic, long under the race detector")
	}
	labtest.AllHold(t, labtest.Run(t, Experiment(), &lab.Env{Short: true}), 3)
}

func TestLossesOfNoSuchTask(t *testing.T) {
	x := Experiment()
	for _, e := range []*lab.Env{{Tasks: []string{"none"}}, {Presets: []string{"fedzo"}}} {
		if _, err := x.Run(t.Context(), e); err == nil || !strings.Contains(err.Error(), "choose") {
			t.Errorf("%+v: %v", e, err)
		}
	}
}

// TestTasks: every task has a plan that can run, and a loss that is finite, differs from model to
// model to the last parameter, and is the same for the same samples and another for others.
func TestTasks(t *testing.T) {
	list := allTasks()
	seen := map[string]bool{}
	for i := range list {
		task := &list[i]
		if err := task.ready(); err != nil {
			t.Fatalf("%s: %v", task.name, err)
		}
		if seen[task.name] || task.what == "" || task.dim < 3 || task.dim > 5000 {
			t.Errorf("%s: twice, without a line, or of %d parameters", task.name, task.dim)
		}
		seen[task.name] = true
		trial := &trial{rounds: 300}
		for _, step := range []float32{0, 0.04} {
			p, err := trial.plan(task, "zofl", step, 1)
			if err == nil {
				err = plancheck.Validate(p)
			}
			if err != nil || p.StepSize != step {
				t.Errorf("%s: step %v: %v", task.name, step, err)
			}
		}
		shares, err := task.deal(1)
		if err != nil || len(shares) != task.devices {
			t.Fatalf("%s: %d shares, %v", task.name, len(shares), err)
		}
		if most := commonest(task.labels, shares[0]); task.labels != nil && most < 0.35 {
			t.Errorf("%s: the commonest class of a device has %v of its samples", task.name, most)
		}
		loss, rng := task.task().Loss, rand.New(rand.NewPCG(7, 7))
		x, least, most := make([]float32, task.dim), math.Inf(1), math.Inf(-1)
		for range 20 {
			for k := range x {
				x[k] = 0.3 * float32(rng.NormFloat64())
			}
			least, most = min(least, loss(x, shares[0])), max(most, loss(x, shares[0]))
		}
		if !(least < most) || math.IsInf(most, 0) {
			t.Errorf("%s: losses from %v to %v at 20 models", task.name, least, most)
		}
		before := loss(x, shares[0])
		last := &x[task.dim-1]
		kept := *last
		if *last += 1000; loss(x, shares[0]) == before {
			t.Errorf("%s: the last parameter changes nothing", task.name)
		}
		*last = kept
		if again := loss(x, shares[0]); again != loss(x, shares[0]) ||
			task.devices > 1 && again == loss(x, shares[1][:len(shares[1])/2]) {
			t.Errorf("%s: not the same loss of the same samples, or the same of others", task.name)
		}
	}
}

// commonest returns the largest part of the samples that one class has.
func commonest(labels []uint8, samples []int) float64 {
	var counts [256]int
	for _, i := range samples {
		if labels != nil {
			counts[labels[i]]++
		}
	}
	return float64(slices.Max(counts[:])) / float64(len(samples))
}

// TestConvolve: filters that take the middle of their patch give the planes without their rim.
func TestConvolve(t *testing.T) {
	const side, planes = 4, 2
	in := make([]float32, side*side*planes)
	for i := range in {
		in[i] = float32(i + 1)
	}
	x := make([]float32, 2*9*planes+2+3)
	for f := range planes {
		x[f*9*planes+4*planes+f] = 1
	}
	out, rest := convolve(x, in, side, planes, planes)
	want := []float32{11, 12, 13, 14, 19, 20, 21, 22}
	if !slices.Equal(out, want) || len(rest) != 3 {
		t.Errorf("got %v and %d parameters, want %v and 3", out, len(rest), want)
	}
}

func TestCell(t *testing.T) {
	made := func(start float64, losses ...float64) *variant {
		a := &variant{}
		for _, loss := range losses {
			s := &score{Start: start, Loss: loss, Ended: "rounds"}
			if loss < 0 {
				s.Ended = "paused"
			}
			a.scores = append(a.scores, s)
		}
		return a
	}
	for _, test := range []struct {
		own, low, high *variant
		want           float64
	}{
		{made(10, 4, 6), made(10, 2, 2), made(10, 3, 3), 5.0 / 8},
		{made(10, 1, 1), made(10, 5, 5), made(10, 1, -1), 9.0 / 5},
		{made(10, 1, -1), made(10, 5, 5), made(10, 6, 6), math.Inf(-1)},
		{made(10, 10, 10), made(10, 11, 11), made(10, -1, -1), 1},
		{made(10, 12, 12), made(10, 11, 11), made(10, 11, 11), 0},
	} {
		d := &cell{own: test.own, fixed: []*variant{test.low, test.high}}
		if got := d.share(); got != test.want {
			t.Errorf("untouched %v of %v and %v: %v of the fall, want %v", test.own.loss(),
				test.low.loss(), test.high.loss(), got, test.want)
		}
	}
}
