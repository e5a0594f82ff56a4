package heterogeneity

import (
	"strings"
	"testing"

	"github.com/zofl/zofl/papers/contest"
	"github.com/zofl/zofl/papers/contest/contesttest"
	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/lab/labtest"
	"github.com/zofl/zofl/papers/run"
)

// tinyHeterogeneity has 10 clients, 3 a round, and two local steps.
func tinyHeterogeneity(t *testing.T) *trial {
	t.Helper()
	size := size{
		drifts:  []drift{{clients: 10, asked: 3, k: 2, steps: []float32{1e-2}}},
		methods: driftMethods, queries: 22 * 12, times: 4, seeds: 1,
	}
	e := &lab.Env{Generated: 300, Logf: t.Logf}
	return newTrial(lab.NewTrial(t.Context(), e, "heterogeneity"), size)
}

func TestShort(t *testing.T) {
	if testing.Short() {
		t.Skip("arithmetic, long under the race detector")
	}
	x := tinyHeterogeneity(t)
	if err := x.all(); err != nil {
		t.Fatal(err)
	}
	// Two splits against IID; five methods at three splits, at two costs.
	if got, want := len(x.Report.Claims), 2+5*3*2; got != want {
		t.Errorf("%d claims, want %d", got, want)
	}
	for _, sp := range lab.Splits {
		entries := x.entries[sp.Name]
		if len(entries) != 6 {
			t.Fatalf("%s: %d methods, want 6", sp.Title, len(entries))
		}
		for _, e := range entries {
			c := e.Results[0].Curve
			if contest.Early(c) {
				t.Errorf("%s, %s: ended %q", sp.Title, e.Title, c.Ended)
			}
			// The methods' traffic differs by phases and older terms, and by a few bytes of
			// the plan.
			const few = 20
			wants := map[string]bool{"v1": true, "v1r": true, "v2": true}[e.Name]
			plain := entries[0].Results[0].Curve
			if more := perRound(c, contest.BytesOf) > perRound(plain, contest.BytesOf)+few; more != wants {
				t.Errorf("%s, %s: %v bytes a round, DeComFL %v",
					sp.Title, e.Title, perRound(c, contest.BytesOf), perRound(plain, contest.BytesOf))
			}
			first := e.Name == "v1" || e.Name == "v1r" // phases
			if more := perRound(c, contest.QueriesOf) > perRound(plain, contest.QueriesOf); more != first {
				t.Errorf("%s, %s: %v queries a round, DeComFL %v",
					sp.Title, e.Title, perRound(c, contest.QueriesOf), perRound(plain, contest.QueriesOf))
			}
		}
	}
}

func perRound(c *run.Curve, of contest.Cost) float64 {
	last := c.Points[len(c.Points)-1]
	return float64(of(&last)) / float64(last.Round)
}

// TestPlans: every training of the whole experiment is a valid plan with a
// unique name.
func TestPlans(t *testing.T) {
	if testing.Short() {
		t.Skip("arithmetic, long under the race detector")
	}
	s, err := (&lab.Env{Generated: 2000}).MNIST()
	if err != nil {
		t.Fatal(err)
	}
	size := sizeOf(&lab.Env{})
	names := map[string]bool{}
	for _, d := range size.drifts {
		for _, sp := range lab.Splits {
			for _, m := range size.methods {
				for _, step := range d.steps {
					one, err := d.contest(s, sp, &size).Enter(m, step)
					if err != nil {
						t.Fatal(err)
					}
					p := contesttest.Plan(t, one, names)
					if p.Steps != d.k {
						t.Errorf("%s: K=%d, want %d", one.Name, p.Steps, d.k)
					}
				}
			}
		}
	}
	if !strings.Contains(size.drifts[0].String(), "softmax, 10 of 100 clients, K=5") {
		t.Errorf("%v", &size.drifts[0])
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
