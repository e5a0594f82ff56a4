package paper

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zofl/zofl/testing/paper/run"
	"github.com/zofl/zofl/wire"
	"github.com/zofl/zofl/wire/valid"
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
func made() *Report {
	r := &Report{ID: "made-up", Figure: Figure{Title: "made up", X: "round", Y: "accuracy"}}
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
	results := Results{curve(1, "rounds", .1, .25, .5, .75), last}
	r.addCurves(run.Accuracy, results)
	x := &decomflRun{report: r}
	d := decomflSetting{name: "made", k: 1, p: 10, batch: 32, step: 1e-3, rounds: 4}
	x.within(&d, results, []officialRange{{2, .225, .3, 3}, {4, .7, .9, 3}, {8, .9, .95, 3}},
		[]uint64{2, 4, 8}, "official code")
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

func TestNoClaims(t *testing.T) {
	var b bytes.Buffer
	if err := (&Report{ID: "none"}).WriteJSON(&b); err != nil {
		t.Fatal(err)
	}
	var got struct {
		ID     string
		Claims []Claim
	}
	if err := json.Unmarshal(b.Bytes(), &got); err != nil || got.ID != "none" || got.Claims == nil {
		t.Errorf("got %s, %v: want an empty list of claims", b.Bytes(), err)
	}
}

func TestFigure(t *testing.T) {
	figure := made().Figure
	for name, head := range map[string]string{"a.png": "\x89PNG", "a.SVG": "<?xml"} {
		file := filepath.Join(t.TempDir(), name)
		if err := figure.WriteFile(file); err != nil {
			t.Fatal(err)
		}
		if b, err := os.ReadFile(file); err != nil || !bytes.HasPrefix(b, []byte(head)) || len(b) < 1000 {
			t.Errorf("%s: %d bytes, %v", name, len(b), err)
		}
	}
	if err := figure.WriteFile(filepath.Join(t.TempDir(), "a.doc")); err == nil ||
		!strings.Contains(err.Error(), ".png") {
		t.Errorf("a.doc: %v", err)
	}
	draw := func(f *Figure, name string) []byte {
		file := filepath.Join(t.TempDir(), name)
		if err := f.WriteFile(file); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	// The first of an image is its page.
	light, dark := draw(&figure, "c.svg"), draw(&figure, "c-dark-2.svg")
	if !bytes.Contains(light, []byte("#FFFFFF")) || bytes.Contains(dark, []byte("#FFFFFF")) {
		t.Error("a figure for dark pages is white, or one for light pages is not")
	}
	low := Figure{Series: []Series{{Name: "x", X: []float64{0, 1, 2}, Y: []float64{-7, 1, 2}}}}
	high := low
	high.Floor = 0.5
	if !bytes.Contains(draw(&low, "d.svg"), []byte(">-6<")) ||
		bytes.Contains(draw(&high, "e.svg"), []byte(">-6<")) {
		t.Error("a figure has what is below its floor, or never has it")
	}
	infinite := Figure{LogX: true, LogY: true,
		Series: []Series{{Name: "x", X: []float64{0, 1}, Y: []float64{1, math.Inf(1)}}}}
	if err := infinite.WriteFile(filepath.Join(t.TempDir(), "b.svg")); err != nil {
		t.Errorf("nothing to show: %v", err)
	}
}

func TestFind(t *testing.T) {
	seen := map[string]bool{}
	for _, e := range All() {
		if seen[e.ID] || e.Title == "" || e.Paper == "" || e.Long == "" || e.Run == nil {
			t.Errorf("%q: twice, or not whole", e.ID)
		}
		seen[e.ID] = true
		if found, err := Find(e.ID); err != nil || found.ID != e.ID {
			t.Errorf("Find(%q) = %v, %v", e.ID, found, err)
		}
	}
	for _, id := range []string{"decomfl-mnist", "decomfl-mnist-k4-p20", "decomfl-lag",
		"decomfl-memory", "zofedht-table1"} {
		if !seen[id] {
			t.Errorf("there is no %s", id)
		}
	}
	_, err := Find("nonsense")
	if fault := (*wire.PlanError)(nil); !errors.As(err, &fault) ||
		!strings.Contains(err.Error(), "decomfl-lag") {
		t.Errorf("nonsense: %v", err)
	}
}

// TestNames: the name of every run is allowed in a plan.
func TestNames(t *testing.T) {
	e := &Env{Generated: 200}
	s, err := e.mnist()
	if err != nil {
		t.Fatal(err)
	}
	settings := []decomflSetting{decomflSoftmax, decomflCNN, decomflBig, decomflFast,
		{name: "cnn-k10-p40-b256-short", cnn: true, k: 10, p: 40, batch: 32, step: 5e-4, rounds: 1}}
	for _, d := range settings {
		for _, tr := range []*Training{d.training(s), d.null(s, 3)} {
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
	if d := decomflCNN.training(s).Task.Dim; d != 28_938 {
		t.Errorf("the CNN has %d parameters, want 28,938", d)
	}
}

func TestNoData(t *testing.T) {
	empty := t.TempDir()
	for _, test := range []struct {
		data string
		want []string
	}{
		{"", []string{"--data", "ZOFL_DATA", "mnist/"}},
		{empty, []string{filepath.Join(empty, "mnist"), "put the files", "--data"}},
		{filepath.Join(empty, "nowhere"), []string{"nowhere", "put the files"}},
	} {
		_, err := (&Env{Data: test.data}).mnist()
		if err == nil {
			t.Fatalf("%q: no error", test.data)
		}
		for _, want := range test.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%q: %v: want it to say %q", test.data, err, want)
			}
		}
		if test.data != "" && !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%q: %v is not fs.ErrNotExist", test.data, err)
		}
	}
}

// TestData reads the real files, if they exist.
func TestData(t *testing.T) {
	dir := os.Getenv("ZOFL_DATA")
	if dir == "" {
		t.Skip("ZOFL_DATA is not set: the experiments run on drawn digits here")
	}
	for _, data := range []string{dir, filepath.Join(dir, "mnist")} {
		s, err := (&Env{Data: data}).mnist()
		if err != nil || s.train.Len() != 60_000 || s.test.Len() != 10_000 {
			t.Errorf("%s: %v, %v", data, s, err)
		}
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
