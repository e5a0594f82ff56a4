package decomfl

import (
	"bytes"
	"flag"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zofl/zofl/internal/chart"
	"github.com/zofl/zofl/papers/lab"
	"github.com/zofl/zofl/papers/run"
	"github.com/zofl/zofl/plan/valid"
)

var rewrite = flag.Bool("rewrite", false, "write golden files")

// golden compares bytes with a file of testdata.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *rewrite {
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is\n%s\nwant\n%s", name, got, want)
	}
}

// made returns a report with two made-up curves.
func made() *lab.Report {
	r := &lab.Report{ID: "made-up", Figure: chart.Chart{Title: "made up", X: "round", Y: "accuracy"}}
	curve := func(seed uint64, ended string, values ...float64) *run.Result {
		c := &run.Curve{Name: "curve", Seed: seed,
			Metrics: []string{run.TestLoss, run.Accuracy}, Ended: ended}
		for i, v := range values {
			n := uint64(i + 1)
			p := run.Point{Round: n, Queries: 200 * n, Bytes: 15000 * n,
				TrainLoss: 2 / float64(n), Seconds: 0.5}
			if n%2 == 0 {
				p.Values = []float64{1 - v, v}
			}
			c.Points = append(c.Points, p)
		}
		return &run.Result{Curve: c, Params: make([]float32, 100)}
	}
	last := curve(2, "diverged: the loss", .1, .2, .3, math.NaN())
	last.Curve.Points[2].TrainLoss, last.Curve.Points[2].Seconds = math.NaN(), math.NaN()
	results := lab.Results{curve(1, "rounds", .1, .25, .5, .75), last}
	r.AddCurves(run.Accuracy, results)
	x := &trial{Trial: &lab.Trial{Report: r}}
	d := setting{name: "made", k: 1, p: 10, batch: 32, step: 1e-3, rounds: 4}
	x.within(&d, results, []officialRange{{2, .225, .3, 3}, {4, .7, .9, 3}, {8, .9, .95, 3}},
		"official code")
	x.guarded(&d, results, "others diverge")
	x.fewerBytes(&d, results)
	return r
}

func TestGolden(t *testing.T) {
	r := made()
	var table, object, text bytes.Buffer
	for _, err := range []error{r.Table.WriteCSV(&table), r.WriteJSON(&object), r.WriteText(&text)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	golden(t, "made.csv", table.Bytes())
	golden(t, "made.json", object.Bytes())
	golden(t, "made.txt", text.Bytes())
}

// TestNames: the name of every run is allowed in a plan.
func TestNames(t *testing.T) {
	e := &lab.Env{Generated: 200}
	s, err := e.MNIST()
	if err != nil {
		t.Fatal(err)
	}
	settings := []setting{softmaxSetting, cnnSetting, bigSetting, fastSetting,
		{name: "cnn-k10-p40-b256-short", cnn: true, k: 10, p: 40, batch: 32, step: 5e-4, rounds: 1}}
	for _, d := range settings {
		for _, tr := range []*lab.Training{d.training(s), d.null(s, 3)} {
			p, err := run.Plan(tr.Preset, tr.Name, 99, tr.Task.Dim, tr.Clients, tr.Asked)
			if err != nil {
				t.Fatal(err)
			}
			tr.Set(p)
			if err := valid.Plan(p); err != nil {
				t.Errorf("%s: %v", tr.Name, err)
			}
		}
	}
	if d := cnnSetting.training(s).Task.Dim; d != 28_938 {
		t.Errorf("the CNN has %d parameters, want 28,938", d)
	}
}

func TestWithin(t *testing.T) {
	r := made()
	holds := map[string]bool{}
	for _, c := range r.Claims {
		holds[c.Claim] = c.Holds
	}
	// After round 2 the mean equals the lowest official accuracy, 0.225. After round 4 only
	// one of two runs is left, with 0.75.
	for claim, want := range map[string]bool{"after round 2": true, "after round 4": false,
		"after round 8": false} {
		found := false
		for c, got := range holds {
			if strings.Contains(c, claim) {
				found = true
				if got != want {
					t.Errorf("%s: holds is %v", c, got)
				}
			}
		}
		if found == (claim == "after round 8") {
			t.Errorf("%s: claimed %v, though the run has 4 rounds", claim, found)
		}
	}
}
