package lab

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/zofl/internal/simulate"
	"github.com/zofl/zofl/plan"
)

// TestStuck: runs whose loss did not fall say where the causes are. One of them that learned, a
// loss that has nowhere to fall, and runs that did not end, say nothing of it.
func TestStuck(t *testing.T) {
	end := func(first, last float64) simulate.Outcome {
		return simulate.Outcome{First: simulate.Number(first), Loss: simulate.Number(last), Rounds: 9,
			Ended: "rounds"}
	}
	failed := simulate.Outcome{First: 1, Loss: simulate.Number(math.NaN()), Ended: "diverged",
		Err: errors.New("far away")}
	for name, tt := range map[string]struct {
		ends []simulate.Outcome
		want bool
	}{
		"the same":            {[]simulate.Outcome{end(1, 1)}, true},
		"higher":              {[]simulate.Outcome{end(1, 1.0001), end(-2, -1)}, true},
		"lower by a breath":   {[]simulate.Outcome{end(2.302585, 2.302584)}, true},
		"one learned":         {[]simulate.Outcome{end(1, 1), end(1, 0.5)}, false},
		"a large loss":        {[]simulate.Outcome{end(1000002, 1000001)}, false},
		"below zero":          {[]simulate.Outcome{end(-1, -2)}, false},
		"nothing to learn":    {[]simulate.Outcome{end(0, 0)}, false},
		"one failed":          {[]simulate.Outcome{failed}, false},
		"one failed, one not": {[]simulate.Outcome{failed, end(1, 1)}, true},
		"none":                {nil, false},
	} {
		var runs []*simulate.Run
		for _, o := range tt.ends {
			runs = append(runs, &simulate.Run{Plan: &plan.Plan{}, Outcome: o})
		}
		var out strings.Builder
		printRuns(&out, nil, runs)
		if got := strings.Contains(out.String(), "docs/faq.md"); got != tt.want {
			t.Errorf("%s: it says so: %v\n%s", name, got, out.String())
		}
	}
}

// TestPrintFound: below the table are the values that the first run found, and the reasons.
func TestPrintFound(t *testing.T) {
	found := []simulate.Found{{Of: "mu", Value: 0.25, Why: "it is straight"}, {Of: "groups",
		Why: "all devices share directions"}}
	first := &simulate.Run{Name: "seed=1", Plan: &plan.Plan{}}
	second := &simulate.Run{Name: "seed=2", Plan: &plan.Plan{}}
	var none, some strings.Builder
	second.Outcome.Found = found
	printRuns(&none, nil, []*simulate.Run{first, second})
	first.Outcome.Found = found
	printRuns(&some, nil, []*simulate.Run{first, second})
	want := "\nWhat run seed=1 found:\nmu=0.25: it is straight.\n" +
		"groups: all devices share directions.\n"
	if strings.Contains(none.String(), "found") || !strings.Contains(some.String(), want) {
		t.Errorf("%s\n%s\nwant %q", none.String(), some.String(), want)
	}
}

// TestMeanOfTheSame: meanOf shows no deviation for equal values, although their mean is rounded.
func TestMeanOfTheSame(t *testing.T) {
	for want, values := range map[string][]float64{
		"0.1": {0.1, 0.1, 0.1}, "0.9735": {0.9735, 0.9735, 0.9735}, "2 ± 1": {1, 2, 3}, "-": nil,
	} {
		var runs []*simulate.Run
		for _, v := range values {
			runs = append(runs, &simulate.Run{
				Outcome: simulate.Outcome{Loss: simulate.Number(v), Ended: "rounds"}})
		}
		got := meanOf(runs, func(o *simulate.Outcome) float64 { return float64(o.Loss) })
		if got != want {
			t.Errorf("%v: got %q, want %q", values, got, want)
		}
	}
}
