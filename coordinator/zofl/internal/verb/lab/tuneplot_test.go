package lab

import (
	"encoding/xml"
	"math"
	"strings"
	"testing"

	"github.com/zofl/zofl/fleet/tune"
)

// A drawing holds the elements of an SVG that a test reads.
type drawing struct {
	XMLName xml.Name `xml:"http://www.w3.org/2000/svg svg"`
	Lines   []struct {
		Circles []struct {
			X     float64 `xml:"cx,attr"`
			Y     float64 `xml:"cy,attr"`
			Title string  `xml:"title"`
		} `xml:"circle"`
	} `xml:"g"`
}

func draw(t *testing.T, b []byte) (d drawing) {
	t.Helper()
	if err := xml.Unmarshal(b, &d); err != nil {
		t.Fatalf("%v in\n%s", err, b)
	}
	return d
}

// TestPlot: each trial of a step has a mark, smaller steps to the left and lower losses below; what
// has no loss has a cross.
func TestPlot(t *testing.T) {
	b, err := plotTrials(&tune.Result{Field: "step", Start: 2, Trials: []tune.Trial{
		{Stage: "mu", Step: 1, Ratio: 1}, {Stage: "start", Step: 1, Loss: 2},
		{Stage: "refine", Step: 0.1, Loss: 1, Rounds: 50}, {Stage: "refine", Step: 10, Loss: 1.5},
		{Stage: "refine", Step: 1, Loss: 0.5}, {Stage: "refine", Step: 100, Loss: math.Inf(1)},
		{Stage: "bracket", Step: 0.01, Loss: math.NaN(), Dropped: true},
		{Stage: "bracket", Step: 1, Loss: 1.9}}})
	if err != nil {
		t.Fatal(err)
	}
	d := draw(t, b)
	// The last line is of the loss at first.
	if crosses := strings.Count(string(b), `class="failed"`); len(d.Lines) != 3 || crosses != 2 ||
		len(d.Lines[0].Circles) != 1 || len(d.Lines[1].Circles) != 3 || d.Lines[2].Circles != nil {
		t.Fatalf("%d crosses, lines %+v in\n%s", crosses, d.Lines, b)
	}
	if c := d.Lines[1].Circles; !(c[0].X < c[1].X && c[1].X < c[2].X) || !(c[1].Y > c[0].Y) ||
		!(c[0].Y > c[2].Y) || c[0].Title != "refine: 1.0000 after 50 rounds, 1" ||
		math.Abs(c[1].X-c[0].X-(c[2].X-c[1].X)) > 1 {
		t.Errorf("circles %+v", c)
	}
	for _, want := range []string{"diverged", "dropped", "by step", "100", "at first"} {
		if !strings.Contains(string(b), want) {
			t.Errorf("no %q in\n%s", want, b)
		}
	}
	if strings.Contains(string(b), "NaN") || strings.Contains(string(b), "Inf") {
		t.Errorf("no numbers in\n%s", b)
	}
	one, err := plotTrials(&tune.Result{Field: "step", Start: 2, Trials: []tune.Trial{
		{Stage: "live", Step: 0.1, Loss: 2}}})
	if d := draw(t, one); err != nil || len(d.Lines[0].Circles) != 1 ||
		strings.Contains(string(one), "NaN") {
		t.Errorf("%v: of one trial\n%s", err, one)
	}
}
