package lossprogram

import (
	"fmt"
	"strings"
	"testing"

	"github.com/zofl/zofl/plan"
)

// TestTellScale: a device whose run has ended tells the program the scale that nothing has told it
// before. Without a scale there is nothing to tell.
func TestTellScale(t *testing.T) {
	p, log := startBowl(t, "hello 1 dim=3 columns=2")
	told := func() int {
		t.Helper()
		return strings.Count(log(), `msg="scale `)
	}
	if p.TellScale(t.Context()); told() != 0 {
		t.Errorf("told of no scale: %s", log())
	}
	for i, mean := range []float64{2.5, -1} {
		at := &plan.Plan{}
		at.Stats = []plan.Column{{Mean: mean, Std: 0.25}, {Mean: 1e-9, Std: 3}}
		if err := p.Accept(at); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			p.TellScale(t.Context())
		}
		says := fmt.Sprintf(`msg="scale %v 0.25 1e-09 3"`, mean)
		if told() != i+1 || !strings.Contains(log(), says) {
			t.Errorf("told %d times, want %d, the last time %s: %s", told(), i+1, says, log())
		}
	}
}

func TestColumnsOf(t *testing.T) {
	got, err := columnsOf(strings.Fields("3 1 2.5 0.5 2 3  0 7 0 0 0 0"), 2)
	if err != nil {
		t.Fatal(err)
	}
	if a, b := got[0], got[1]; a.Count != 3 || a.Missing != 1 || a.Mean != 2.5 || a.Std != 0.5 ||
		*a.Min != 2 || *a.Max != 3 || b.Count != 0 || b.Missing != 7 || b.Min != nil {
		t.Errorf("read %+v", got)
	}
	for line, want := range map[string]string{
		"1 0 2 0 2 2": "give 6 for each of 2", "1 0 nan 0 2 2 1 0 2 0 2 2": "a finite number",
		"1.5 0 2 0 2 2 1 0 2 0 2 2": "whole numbers", "1 -1 2 0 2 2 1 0 2 0 2 2": "whole numbers",
		"1 0 x 0 2 2 1 0 2 0 2 2": "a finite number", "1e300 0 2 0 2 2 1 0 2 0 2 2": "whole numbers",
	} {
		if _, err := columnsOf(strings.Fields(line), 2); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", line, err, want)
		}
	}
}
