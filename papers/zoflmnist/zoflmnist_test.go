package zoflmnist

import (
	"cmp"
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/zofl/zofl/internal/chart"
	"github.com/zofl/zofl/papers/contest"
	"github.com/zofl/zofl/papers/contest/contesttest"
	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/lab/labtest"
	"github.com/zofl/zofl/papers/run"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/valid"
)

// TestMNISTShort runs the short form of the experiment, and checks that a second run from the
// logs gives the same report.
func TestMNISTShort(t *testing.T) {
	if testing.Short() {
		t.Skip("arithmetic, long under the race detector")
	}
	e := func(dir string) *lab.Env {
		return &lab.Env{Short: true, Generated: 200, Dir: dir, Arms: []string{"decomfl", "zofl"}}
	}
	dir := t.TempDir()
	r := labtest.Run(t, Experiment(), e(dir))
	// With a few rounds, the report has no claims about targets, only claims about which arm is
	// ahead, by queries and by bytes.
	if len(r.Claims) != 2 || len(r.Summary.Rows) != 2 || len(r.More) != 1 {
		t.Errorf("%d claims, %d rows, %d more figures, want 2, 2 and 1: %+v",
			len(r.Claims), len(r.Summary.Rows), len(r.More), r.Claims)
	}
	labtest.Untold(t, r, 2)
	again := labtest.Run(t, Experiment(), e(dir))
	if !slices.EqualFunc(r.Table.Rows, again.Table.Rows, slices.Equal[[]string]) {
		t.Errorf("from the logs:\n%v\nbefore:\n%v", again.Table.Rows, r.Table.Rows)
	}
}

// TestMNISTInterrupted checks that after an interrupt the table and the figures have the results
// so far, and that the report has no claims.
func TestMNISTInterrupted(t *testing.T) {
	if testing.Short() {
		t.Skip("arithmetic, long under the race detector")
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	e := &lab.Env{Short: true, Generated: 200, Arms: []string{"zofl"},
		Logf: func(string, ...any) { cancel() }}
	x := Experiment()
	r, err := x.Run(ctx, e)
	if !errors.Is(err, context.Canceled) || r == nil || len(r.Claims) != 0 ||
		len(r.Summary.Rows) != 1 || len(r.Figure.Lines) != 2 ||
		!strings.Contains(r.Summary.Rows[0][7], "seed 1 goes on: 0.") {
		t.Errorf("%+v, %v: want a row of a run that goes on", r, err)
	}
}

// TestMNISTScreened checks that a screened experiment makes no query, and that the report says so
// next to its numbers.
func TestMNISTScreened(t *testing.T) {
	if testing.Short() {
		t.Skip("arithmetic, long under the race detector")
	}
	r := labtest.Run(t, Experiment(), &lab.Env{Short: true, Generated: 200, Screen: true,
		Arms: []string{"decomfl", "zofl"}})
	if !r.Screened || r.Summary.Columns[3] != "0.80: spared queries; kB" ||
		!strings.HasPrefix(r.Figure.X, "spared queries") || len(r.Claims) != 2 ||
		!strings.Contains(r.Claims[0].Claim, "spared") {
		t.Errorf("%+v: want it marked", r)
	}
	at := slices.Index(r.Table.Columns, "queries")
	for _, row := range r.Table.Rows {
		if row[at] != "0" {
			t.Fatalf("%v: a screened run reports queries", row)
		}
	}
}

// planOf returns the training of an arm in a league, and the plan of the training. planOf fails
// the test if the plan cannot run.
func planOf(t *testing.T, s *lab.Set, l *league, c contest.Method) (*lab.Training, *plan.Plan) {
	t.Helper()
	one, err := l.contest(s).Enter(c, c.Steps[0])
	if err != nil {
		t.Fatal(err)
	}
	p, err := run.Plan(one.Preset, one.Run, 1, one.Task.Dim, one.Clients, one.Asked)
	if err != nil {
		t.Fatal(err)
	}
	p.Rounds = one.Rounds
	one.Set(p)
	if err := valid.Plan(p); err != nil {
		t.Errorf("%v, %s: %v", l, c.Name, err)
	}
	return one, p
}

// TestMNISTArms checks that each arm of each split gives a plan that can run, and that spends all
// its queries.
func TestMNISTArms(t *testing.T) {
	s, err := (&lab.Env{Generated: 200}).MNIST()
	if err != nil {
		t.Fatal(err)
	}
	leagues, err := leagues(&lab.Env{})
	if err != nil || len(leagues) != 3 || leagues[0].seeds != 3 {
		t.Fatalf("%v, %v: want three splits, of three seeds", leagues, err)
	}
	for _, l := range leagues {
		if l.arms[0].Name != "decomfl" || len(l.arms[0].Steps) < 3 {
			t.Errorf("%v: the first arm is %+v, want DeComFL with steps to choose from", &l, l.arms[0])
		}
		for _, c := range append(slices.Clone(l.arms), others...) {
			one, p := planOf(t, s, &l, c)
			if _, found := contest.StepOf(p); c.Name == "auto" && (found != 0 || p.StepAuto == 0) {
				t.Errorf("%v, %s: step %v", &l, c.Name, found)
			}
			want := cmp.Or(c.Queries, l.queries)
			if got := one.Rounds * p.Queries(p.Perturbations); got > want || got < want*19/20 {
				t.Errorf("%v, %s: %d queries in %d rounds, want %d", &l, c.Name, got, one.Rounds, want)
			}
		}
	}
}

func TestPickArms(t *testing.T) {
	got, err := pickArms(arms("i"), []string{"decomfl", "slow zofl step=0.06 server_decay=0",
		"decomfl-adam", "six decomfl-adam perturbations=6", "auto", "slower auto server_decay=0"})
	if err != nil || len(got) != 6 {
		t.Fatalf("%+v, %v", got, err)
	}
	pl := func(i int) *plan.Plan {
		c := got[i]
		p, err := run.Plan(max(c.Preset, "decomfl"), "arm", 1, 10, 10, 3)
		if err != nil {
			t.Fatal(err)
		}
		c.Fields(p, c.Steps[0])
		return p
	}
	if p := pl(1); got[1].Name != "slow" || p.StepSize != 0.06 || p.ServerDecay != 0 ||
		p.ServerRule != plan.ServerNormalized {
		t.Errorf("the second is %+v", got[1])
	}
	if p := pl(2); got[2].Step != "server_step" || p.ServerStep != 2e-3 {
		t.Errorf("the third is %+v", got[2])
	}
	if p := pl(3); got[3].Name != "six" || p.Perturbations != 6 || p.ServerStep != 2e-3 {
		t.Errorf("the last is %+v", got[3])
	}
	if p := pl(5); got[5].Name != "slower" || p.StepAuto == 0 || p.StepSize != 0 {
		t.Errorf("the one that finds its step is %+v", got[5])
	}
	for text, want := range map[string]string{"": "--arm : ", "nonsense": "--arm nonsense: choose ",
		"a nonsense": "--arm nonsense: choose among ", "a zofl nonsense=1": "plan: nonsense = 1: ",
		"a zofl step=x": "plan: step = x: "} {
		_, err := pickArms(arms("i"), []string{text})
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// TestTargets checks the claims about invented runs, with 10 queries and 100 bytes a round.
func TestTargets(t *testing.T) {
	l := league{Split: lab.Splits[0], clients: 2, asked: 1,
		targets: []target{{0.5, 40, 200}, {0.5, 40, 150}, {0.5, 20, 0}, {0.9, 60, 500}}}
	x := newTrial(lab.NewTrial(t.Context(), &lab.Env{}, "made"), nil)
	spent := contesttest.Spent
	plain := contesttest.Entry("decomfl", spent("rounds", .1, .2, .3), spent("rounds", .1, .2, .3))
	ours := contesttest.Entry("ours", spent("rounds", .2, .5, .9), spent("rounds", .3, .6, .8))
	entries := []*contest.Entry{plain, ours}
	for _, e := range entries {
		x.summarize(&l, e)
	}
	x.claims(&l, entries)
	x.draw(&l, entries)
	var got []bool
	for _, c := range x.Report.Claims {
		got = append(got, c.Holds)
	}
	// 0.5 is there after 40 queries and 200 bytes of either device; 0.9 in one of two runs.
	want := []bool{true, true, true, false, false, false, false, true, true}
	if !slices.Equal(got, want) {
		t.Errorf("%v, want %v: %+v", got, want, x.Report.Claims)
	}
	if text := x.Report.Claims[6].Figures; !strings.Contains(text, "300 bytes (1 of 2 seeds)") ||
		!strings.Contains(text, "decomfl never") {
		t.Errorf("%s: want who got there", text)
	}
	alone := newTrial(lab.NewTrial(t.Context(), &lab.Env{}, "made"), nil)
	alone.claims(&l, entries[1:])
	if len(alone.Report.Claims) != len(want)-2 {
		t.Errorf("without DeComFL %+v, want the targets alone", alone.Report.Claims)
	}
	row := x.Report.Summary.Rows[1]
	if row[3] != "60; 0" || row[4] != "60; 0 (1 of 2)" || row[5] != "never" {
		t.Errorf("the row is %q", row)
	}
	// A run that was interrupted has no end yet.
	part := contesttest.Entry("part", spent("rounds", .2, .5), spent("", .1, .4))
	if got := l.end(part); got != "0.5000; seed 1 goes on: 0.4000 after 40" {
		t.Errorf("the end is %q", got)
	}
	line := x.Report.Figure.Lines[1]
	at := func(l chart.Line) (xs []float64) {
		for _, p := range l.Points {
			xs = append(xs, p.X)
		}
		return xs
	}
	if !slices.Equal(at(line), []float64{20, 40, 60}) || math.Abs(line.Points[1].Y-.55) > 1e-12 ||
		!slices.Equal(at(x.Report.More[0].Lines[1]), []float64{.1, .2, .3}) {
		t.Errorf("the line is %+v", line)
	}
}
