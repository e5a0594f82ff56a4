package simulate

import (
	"errors"
	"fmt"
	"math"
	"testing"
)

// ended is a run with a step that ended with a loss, or failed.
func ended(step string, seed int, loss float64, err error) *Run {
	r := &Run{Name: fmt.Sprintf("step=%s,seed=%d", step, seed), Seed: uint64(seed)}
	r.Settings = []Setting{{"step", step}}
	r.Outcome = Outcome{Rounds: 9, First: 1, Loss: Number(loss), Ended: "rounds", Err: err}
	if err != nil {
		r.Outcome.Ended, r.Outcome.Loss = "diverged", Number(math.NaN())
	}
	return r
}

// TestBest: Best never returns settings with which one seed failed. In any order of the runs, it
// returns the settings with the lowest mean.
func TestBest(t *testing.T) {
	failed := errors.New("diverged")
	good := []*Run{ended("1", 1, 0.5, nil), ended("1", 2, 0.3, nil)}
	worse := []*Run{ended("2", 1, 0.1, nil), ended("2", 2, 0.9, nil)}
	broken := []*Run{ended("3", 1, 0.01, nil), ended("3", 2, 0, failed)}
	for i, runs := range [][][]*Run{
		{good, worse, broken}, {worse, good, broken}, {broken, worse, good}, {broken, good},
	} {
		var all []*Run
		for _, group := range runs {
			all = append(all, group...)
		}
		if best := Best(all); best != good[0] {
			t.Errorf("order %d: the best is %+v", i, best)
		}
	}
	if best := Best(broken); best != nil {
		t.Errorf("the best of nothing is %+v", best)
	}
}

// TestFailedRunsAreMarked: a failed run has a mark of its own, and does not count in a mean.
func TestFailedRunsAreMarked(t *testing.T) {
	runs := []*Run{ended("1", 1, 0.5, nil), ended("1", 2, 0, errors.New("diverged")),
		ended("10", 1, 0.25, nil), ended("10", 2, 0.75, nil)}
	aborted := ended("10", 3, 0.01, nil)
	aborted.Outcome.Rounds = 0
	c := byValue([]Axis{{"step", []string{"1", "10"}}}, 0, append(runs, aborted))
	if len(c.Lines) != 1 || fmt.Sprint(c.Lines[0].Points) != "[{1 0.5} {10 0.5}]" ||
		len(c.Lines[0].Marks) != 3 || len(c.Failed) != 2 ||
		c.Failed[0].Title != "step=1,seed=2: diverged" {
		t.Errorf("got %+v, failed %+v", c.Lines, c.Failed)
	}
}

// TestPlaces: values have numeric positions only if all of them are finite numbers.
func TestPlaces(t *testing.T) {
	for _, c := range []struct{ values, want []any }{
		{[]any{"0.1", "10"}, []any{0.1, 10.}},
		{[]any{"0.5", "inf", "2"}, []any{0., 1., 2.}},
		{[]any{"central", "forward"}, []any{0., 1.}},
		{[]any{"1", "auto"}, []any{0., 1.}},
	} {
		var values []string
		for _, v := range c.values {
			values = append(values, v.(string))
		}
		if got := places(values); fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%v: %v, want %v", values, got, c.want)
		}
	}
}

// TestDivergingIsNotDrawn: the chart leaves out losses above four times the first, because they
// would hide the others.
func TestDivergingIsNotDrawn(t *testing.T) {
	r := ended("1", 1, 2, nil)
	for i, loss := range []Number{1, 4, 4.1, 1e9, 2} {
		r.Rows = append(r.Rows, Row{Round: uint64(i + 1), Loss: loss})
	}
	if c := curves([]*Run{r}); fmt.Sprint(c.Lines[0].Points) != "[{1 1} {2 4} {5 2}]" {
		t.Errorf("got %v", c.Lines[0].Points)
	}
}
