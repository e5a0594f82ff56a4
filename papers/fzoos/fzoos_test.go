package fzoos

import (
	"math"
	"strings"
	"testing"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/coordinator/zofl/data"
	"github.com/zofl/zofl/papers/blackbox"
	"github.com/zofl/zofl/papers/contest"
	"github.com/zofl/zofl/papers/contest/contesttest"
	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/run"
	"github.com/zofl/zofl/papers/tables"
	"github.com/zofl/zofl/plan"
)

// tinyBoxes returns an experiment with few points and features.
func tinyBoxes(t *testing.T, e *lab.Env) *boxRun {
	t.Helper()
	e.Logf = t.Logf
	size := sizeOf(&lab.Env{Short: true, Seeds: 2})
	size.method, size.rounds, size.fewer = []string{"around=5", "window=20", "features=40",
		"candidates=20"}, 2, 2
	size.c, size.sgd, size.calm, size.steps, size.features = []float64{5}, []float32{0.03, 0.1},
		[]float32{0.3}, []uint32{2}, []string{"10", "40"}
	return &boxRun{Trial: lab.NewTrial(t.Context(), e, "tiny"), size: size}
}

// TestFzoosQuadratic checks that all methods start at the same x and make the expected number of
// queries, and that a second run from the logs gives the same claims.
func TestFzoosQuadratic(t *testing.T) {
	if testing.Short() {
		t.Skip("arithmetic, long under the race detector")
	}
	e := &lab.Env{Dir: t.TempDir()}
	x := tinyBoxes(t, e)
	if err := x.quadratic(); err != nil {
		t.Fatal(err)
	}
	if len(x.Report.Claims) != 3*(2+2) { // nobody reaches a level
		t.Errorf("%d claims", len(x.Report.Claims))
	}
	if f, more := x.Report.Figure, x.Report.More[0]; len(f.Lines) != 11 ||
		len(more.Lines) != 11 || more.Lines[3].Points[1].X != 2*5*210 {
		t.Errorf("%d and %d lines, FedZO's queries %v",
			len(f.Lines), len(more.Lines), more.Lines[3].Points)
	}
	task := x.quadraticTask(5, steps, 2)
	queries := map[string]float64{"FZooS": 10*6 + 6, "FedZO": 210, "FedProx": 210,
		"SCAFFOLD I": 231, "SCAFFOLD II": 210}
	curves, err := x.compare(task, append([]contest.Method{x.size.fzoos()}, baselines...))
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range curves {
		if c.perRound() != queries[c.Title] {
			t.Errorf("%s: %v queries a client and round, want %v", c.Title, c.perRound(), queries[c.Title])
		}
		if len(c.results) != 2 || c.results[0].Totals.Up.Messages != 0 {
			t.Errorf("%s: %d runs; it ran again: %+v", c.Title, len(c.results), c.results[0].Totals)
		}
		if i > 1 && c.results[1].Curve.Points[0].TrainLoss !=
			curves[1].results[1].Curve.Points[0].TrainLoss {
			t.Errorf("%s begins elsewhere than FedZO", c.Title)
		}
	}
	again := tinyBoxes(t, e)
	if err := again.quadratic(); err != nil {
		t.Fatal(err)
	}
	for i, c := range again.Report.Claims {
		if c != x.Report.Claims[i] {
			t.Errorf("from the logs:\n%+v\nfirst:\n%+v", c, x.Report.Claims[i])
		}
	}
}

// TestFzoosVariations runs the other experiments on quadratic functions.
func TestFzoosVariations(t *testing.T) {
	if testing.Short() {
		t.Skip("arithmetic, long under the race detector")
	}
	x := tinyBoxes(t, &lab.Env{})
	x.size.seeds = 1
	for name, f := range map[string]func() error{"T": x.localUpdates, "M": x.features,
		"gamma": x.ablation, "cosine": x.disparity} {
		if err := f(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if want := 2 + 1 + 1 + 7 + 2; len(x.Report.Claims) != want {
		t.Errorf("%d claims, want %d", len(x.Report.Claims), want)
	}
}

// TestFzoosAttack misleads models that were trained for an epoch.
func TestFzoosAttack(t *testing.T) {
	if testing.Short() {
		t.Skip("arithmetic, long under the race detector")
	}
	a, err := blackbox.NewAttack(t.Context(), data.Digits(400, 1), data.Digits(200, 2),
		blackbox.AttackConfig{Portion: 1, Clients: 2, Images: 2, OnAverage: true, Epochs: 1,
			Cache: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	x := tinyBoxes(t, &lab.Env{})
	if err := x.mislead(a, 1); err != nil {
		t.Fatal(err)
	}
	if len(x.Report.Claims) != 4 || !strings.HasPrefix(x.Report.Claims[2].Figures, margin) {
		t.Errorf("%d claims: %+v", len(x.Report.Claims), x.Report.Claims)
	}
}

// TestFzoosMetric improves an MLP of a few rows.
func TestFzoosMetric(t *testing.T) {
	if testing.Short() {
		t.Skip("arithmetic, long under the race detector")
	}
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	table := &tables.Table{Features: 54, Classes: 7}
	for i := range 140 {
		for f := range 54 {
			table.Values = append(table.Values, float32((i*31+f*17)%101)/101+float32(i%7)*float32(f%7))
		}
		table.Labels = append(table.Labels, uint8(i%7))
	}
	x := tinyBoxes(t, &lab.Env{})
	x.size.rows, x.size.seeds = 20, 1
	if err := x.improve(table, blackbox.F1, 0.7); err != nil {
		t.Fatal(err)
	}
	claims := x.Report.Claims
	if len(claims) != 6 || !strings.HasPrefix(claims[0].Figures, "1 - f1") ||
		!strings.Contains(claims[2].Claim, "l fitted") ||
		!strings.Contains(claims[4].Claim, "another window") {
		t.Errorf("%+v", claims)
	}
}

// TestFzoosPlans checks that every training of the full size has a valid plan with a unique name.
func TestFzoosPlans(t *testing.T) {
	size := sizeOf(&lab.Env{})
	x := &boxRun{Trial: lab.NewTrial(t.Context(), &lab.Env{}, "plans"), size: size}
	names := map[string]bool{}
	for _, c := range size.c {
		for _, steps := range size.steps {
			task := x.quadraticTask(c, steps, rounds)
			list := append([]contest.Method{size.fzoos()}, baselines...)
			for _, m := range append(list, plainSteps(baselines, size.sgd)...) {
				for _, step := range m.Steps {
					one, err := task.training(&m, step, 99)
					if err != nil {
						t.Fatal(err)
					}
					p := contesttest.Plan(t, one, names)
					if p.Steps != steps || p.StepSize != step {
						t.Errorf("%s: T=%d, step %v, want %d, %v", one.Name, p.Steps, p.StepSize, steps,
							step)
					}
					if p.Rule == plan.LocalAdam != (m.Steps[0] == 0.01) {
						t.Errorf("%s: rule %v", m.Title, p.Rule)
					}
				}
			}
		}
	}
	if got, want := len(names), 3*3*(1+4+4*4); got != want {
		t.Errorf("%d names, want %d", got, want)
	}
}

// TestLookout: moves down the gradient are distinguished from those up it and from probes.
func TestLookout(t *testing.T) {
	q, err := quadraticOf(5, 1)
	if err != nil {
		t.Fatal(err)
	}
	l := newLookout(q)
	x, g := make([]float32, dim), make([]float64, dim)
	q.Start(x, 1)
	probe := make([]float32, dim)
	walk := func(n uint64, eta float64) {
		for step := range 3 {
			l.asked(x, []int{2}, objective.Batch{N: n, Step: step})
			l.asked(probe, []int{2}, objective.Batch{N: n, Step: step})
			q.MeanGradient(g, x)
			for j := range x {
				x[j] -= float32(eta * g[j])
			}
		}
	}
	walk(4, 10)
	walk(6, -10)
	if c := l.sums[2]; math.Abs(c[0]) > 1e-3 || math.Abs(c[1]) > 1e-3 || c[2] != 0 ||
		l.n[2][0] != 2 || l.n[2][2] != 0 {
		t.Errorf("sums %v of %v cosines, want 1 - 1", c[:3], l.n[2][:3])
	}
	l = newLookout(q)
	walk(4, 10)
	if each := l.means(false); math.Abs(each[0]-1) > 1e-3 || math.Abs(each[1]-1) > 1e-3 ||
		!math.IsNaN(each[2]) {
		t.Errorf("means %v, want 1", each[:3])
	}
}

// madeCurve returns a curve of one seed, with this many queries a round.
func madeCurve(t *boxTask, title string, queries uint64, values ...float64) *boxCurve {
	c := &run.Curve{Metrics: []string{t.metric}}
	for i, v := range values {
		round := uint64(i + 1)
		c.Points = append(c.Points,
			run.Point{Round: round, Queries: round * queries, Values: []float64{v}})
	}
	return &boxCurve{Method: contest.Method{Title: title}, task: t, clients: 1,
		results: lab.Results{{Curve: c}}}
}

func TestFzoosClaims(t *testing.T) {
	task := &boxTask{title: "made", metric: "m", rounds: 4}
	ours := madeCurve(task, "ours", 10, 4, 2, 1, 1)
	for _, test := range []struct {
		other           *boxCurve
		rounds, queries bool
	}{
		{madeCurve(task, "slow", 20, 4, 4, 3, 2), true, true}, // 20 of 80
		{madeCurve(task, "near", 10, 4, 4, 3, 2), true, false},
		{madeCurve(task, "dear", 30, 4, 2, 1.1, 1), true, true},
		{madeCurve(task, "lower", 100, 4, 3, 2, .5), false, false},
		{madeCurve(task, "ended", 100, 4, 3), true, true}, // infinite, so that any round will do
	} {
		x := &boxRun{Trial: lab.NewTrial(t.Context(), &lab.Env{}, "made")}
		x.sooner(ours, []*boxCurve{test.other}, "Adam")
		if c := x.Report.Claims; c[0].Holds != test.rounds || c[1].Holds != test.queries {
			t.Errorf("%s: %+v, want %v and %v", test.other.Title, c, test.rounds, test.queries)
		}
	}
	x := &boxRun{Trial: lab.NewTrial(t.Context(), &lab.Env{}, "made")}
	x.reaches(2, ours, []*boxCurve{madeCurve(task, "late", 30, 4, 4, 2, 2)})
	x.reaches(2, ours, []*boxCurve{madeCurve(task, "early", 50, 2, 2, 2, 2)})
	x.reaches(0, ours, nil)
	x.ordered("order", []*boxCurve{ours, madeCurve(task, "late", 30, 4, 4, 2, 2)})
	x.ordered("order", []*boxCurve{ours, madeCurve(task, "lower", 30, 4, 4, 2, 0)})
	for i, want := range []bool{true, true, false, false, true, false} {
		if got := x.Report.Claims[i]; got.Holds != want {
			t.Errorf("claim %d: %+v, want %v", i, got, want)
		}
	}
	if got := lab.SpreadError([]float64{1, 2, 3}); got != "2.0000+-0.5774" {
		t.Errorf("mean and standard error %q", got)
	}
}
