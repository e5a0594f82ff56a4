package cma

import (
	"testing"

	"github.com/zofl/zofl/papers/lab"
)

// TestShort runs the short form with one seed, as `paper run cma --short` does.
func TestShort(t *testing.T) {
	if testing.Short() {
		t.Skip("arithmetic, long under the race detector")
	}
	r, err := Experiment().Run(t.Context(), &lab.Env{Short: true, Logf: t.Logf})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Claims) != 9+2+1+3 || len(r.Table.Rows) != len(r.Claims) {
		t.Errorf("%d claims, %d rows", len(r.Claims), len(r.Table.Rows))
	}
	for _, c := range r.Claims {
		if !c.Holds {
			t.Logf("with one seed: %s: %s", c.Claim, c.Figures)
		}
	}
}

// TestLosses: each loss has its least value where its optimum is.
func TestLosses(t *testing.T) {
	for name, at := range map[string][]float64{"rosen": {1, 1, 1}} {
		l := newLoss(name, 3, 1)
		if v := l.at(at); v != 0 || l.gap(l.start) != 1 || l.gap(v) != 0 {
			t.Errorf("%s: %v at its optimum, %v at 0", name, v, l.start)
		}
	}
	for _, f := range []func([]float64) float64{ackley([]float64{1, 2}), rastrigin([]float64{1, 2})} {
		if v := f([]float64{1, 2}); v > 1e-12 || v < -1e-12 || f([]float64{1, 2.1}) < 0.1 {
			t.Errorf("%v at the optimum", v)
		}
	}
	c := newCrowd(10, 6, 3, 1, 0, 1)
	if c.least >= c.start || c.mean(c.optimum) != c.least {
		t.Errorf("a crowd: %v at 0, %v at its optimum", c.start, c.least)
	}
}
