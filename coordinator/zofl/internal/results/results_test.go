package results

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"html"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zofl/zofl/coordinator/zofl/internal/history"
	"github.com/zofl/zofl/coordinator/zofl/internal/icon"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/plan/preset"
)

// sample is a run of 20 rounds with 4 queries and 30 bytes each, whose accuracy grows by rate a
// round. Rounds 11 to 15 were undone by a rollback to record 11 and made again.
func sample(t *testing.T, name string, rate float64) *Run {
	t.Helper()
	plan, err := preset.Unbound("decomfl", name, 10)
	if err != nil {
		t.Fatal(err)
	}
	plan.Metrics, plan.EvalEvery, plan.EvalCount = []string{"loss", "accuracy"}, 1, 2
	for i := range plan.RunKey {
		plan.RunKey[i] = byte(i)
	}
	r := &Run{From: name + ".log", Flags: "--store " + name + ".log", Plan: *plan, Now: *plan,
		Records: 28, Rounds: 20, Hash: "abcd", Ended: "rounds"}
	began := time.Date(2026, 11, 24, 8, 0, 0, 0, time.UTC)
	add := func(n, round uint64, value float64) {
		loss := 1 - value
		r.Points = append(r.Points, history.Point{N: n, Round: round,
			Time: began.Add(time.Duration(n) * time.Second), Loss: &loss, Seconds: 0.5,
			Contributors: 3, Asked: 4, Declines: 1, BytesUp: 10, BytesDown: 20, Queries: 4 * (n - 1),
			Step: 0.1, Perturbations: 10, Rejected: map[string]uint64{"late": 2},
			Evaluation: &history.Evaluation{Devices: 2, Metrics: map[string]*float64{
				"accuracy": &value, "loss": &loss}}})
	}
	for n := uint64(2); n <= 16; n++ {
		value := rate * float64(n-1)
		if n > 11 {
			value = 0.99 // what the rollback undoes
		}
		add(n, n-1, value)
	}
	r.Marks = []history.Mark{{N: 1, Kind: history.Began, Time: began, To: 1},
		{N: 17, Round: 10, Kind: history.RolledBack, Time: began.Add(17 * time.Second), To: 11}}
	for n := uint64(18); n <= 27; n++ {
		add(n, n-7, rate*float64(n-7))
	}
	return r
}

func TestSeries(t *testing.T) {
	r := sample(t, "kitchen", 0.02)
	s := r.Metric("accuracy")
	if len(s.At) != 20 {
		t.Fatalf("%d samples, want those of the 20 rounds that count", len(s.At))
	}
	for i, a := range s.At {
		if a.Round != float64(i+1) || a.Value > 0.5 {
			t.Errorf("sample %d is %+v", i, a)
		}
	}
	if last := s.At[19]; last.Queries != 104 || last.Bytes != 25*30 || last.Seconds != 25 {
		t.Errorf("the last sample is %+v, want what undone rounds cost, too", last)
	}
	smooth := Series{At: []Sample{{Value: 1}, {Value: 2}, {Value: 3}, {Value: 4}, {Value: 5},
		{Value: 16}}}.Smooth()
	if smooth.At[0].Value != 1 || smooth.At[4].Value != 3 || smooth.At[5].Value != 6 {
		t.Errorf("means of five are %+v", smooth.At)
	}
	if !math.IsNaN((Series{}).Last()) {
		t.Error("a series of nothing has a last value")
	}
	r.Points = slices.Delete(r.Points, 1, 9) // thinned
	if last := r.Metric("accuracy"); last.At[len(last.At)-1].Bytes != 25*30 {
		t.Errorf("thinned: %v bytes, want %v", last.At[len(last.At)-1].Bytes, 25*30)
	}
}

// checked returns a page, if it holds to its policy.
func checked(t *testing.T, page []byte) string {
	t.Helper()
	text := string(page)
	_, rest, _ := strings.Cut(text, "<style>")
	style, _, found := strings.Cut(rest, "</style>")
	sum := sha256.Sum256([]byte(style))
	hash := "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
	if !found || !strings.Contains(html.UnescapeString(text), hash) {
		t.Errorf("the policy has not the style's hash %s", hash)
	}
	if strings.Count(html.UnescapeString(text), string(icon.URL())) != 2 {
		t.Error("the page has not its icon, at its title and for the browser's tab")
	}
	text = strings.ReplaceAll(html.UnescapeString(text), `="`+string(icon.URL())+`"`, "")
	for _, not := range []string{"src=", "href=", "url(", "style=", "<script", "@import", "NaN",
		"ZgotmplZ"} {
		if strings.Contains(text, not) {
			t.Errorf("the page has %s", not)
		}
	}
	return text
}

func TestReport(t *testing.T) {
	r := sample(t, "kitchen", 0.02)
	var out bytes.Buffer
	if err := r.Report(&out); err != nil {
		t.Fatal(err)
	}
	text := checked(t, out.Bytes())
	for _, want := range []string{"Run kitchen", "ended: rounds", "accuracy by queries of a device",
		"rolled back", "messages dropped: late", "<code>perturbations</code>", "prefers-color-scheme",
		"zofl verify --store kitchen.log", "zofl serve kitchen.json --store kitchen-again.log",
		"<td>0.4</td>", "<title>rolled back</title>"} {
		if !strings.Contains(text, want) {
			t.Errorf("the page has no %s", want)
		}
	}
	if strings.Contains(text, "ended worse") {
		t.Error("the page says that the run ended worse")
	}
	r.Points[0].Loss = new(float64)
	out.Reset()
	err := r.Report(&out)
	if err != nil || !strings.Contains(out.String(), "ended worse than it began") {
		t.Errorf("the page of a run that ended worse does not say so: %v", err)
	}
	_, rest, _ := strings.Cut(text, "<<'END'\n")
	plan, _, _ := strings.Cut(rest, "\nEND\n")
	got, err := planfile.Read(strings.NewReader(plan))
	if err != nil || !bytes.Equal(got.RunKey[:], r.Plan.RunKey[:]) {
		t.Errorf("the plan that reproduces it: %v:\n%s", err, plan)
	}
	if n := strings.Count(text, "<svg"); n != 10 {
		t.Errorf("%d charts, want 10", n)
	}
}

func TestCompare(t *testing.T) {
	a, b := sample(t, "kitchen", 0.02), sample(t, "hall", 0.04)
	b.Plan.StepSize, b.Plan.Late = 0.5, 3
	c, err := Compare(a, b, "")
	if err != nil {
		t.Fatal(err)
	}
	if c.Measure != "accuracy" || !c.Rises {
		t.Errorf("compared by %s, rises %v", c.Measure, c.Rises)
	}
	differences, err := c.Differences()
	names := []string{}
	for _, d := range differences {
		names = append(names, d.Field)
	}
	if want := []string{"run", "step", "late"}; err != nil || !slices.Equal(names, want) {
		t.Errorf("the plans differ in %v, want %v: %v", names, want, err)
	}
	reached := c.Reached()
	for i, want := range []struct{ value, a, b float64 }{
		{0.21, 11, 6}, {0.324, 17, 9}, {0.381, 20, 10}, {0.4, 20, 10}, {0.8, 0, 20},
	} {
		if i >= len(reached) || math.Abs(reached[i].Value-want.value) > 1e-9 {
			t.Fatalf("reached %+v, want %v", reached, want)
		}
		if x := reached[i]; (x.A == nil) != (want.a == 0) || x.A != nil && x.A.Round != want.a ||
			x.B == nil || x.B.Round != want.b {
			t.Errorf("%v: %+v, %+v, want rounds %v, %v", want.value, x.A, x.B, want.a, want.b)
		}
	}
	equal := c.Equal()
	if want := (Equal{"round", 10, 0.2, 0.4}); len(equal) != 9 || equal[1] != want {
		t.Errorf("equal %+v, want 9 with %+v", equal, want)
	}
	if want := (Equal{"queries of a device", 104, 0.4, 0.8}); equal[5] != want {
		t.Errorf("equal %+v, want %+v", equal[5], want)
	}
	var out bytes.Buffer
	if err := c.Page(&out); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"kitchen.log and hall.log", "Costs at equal accuracy", "never"} {
		if !strings.Contains(checked(t, out.Bytes()), want) {
			t.Errorf("the page has no %s", want)
		}
	}
	if c, err = Compare(a, b, "loss"); err != nil || c.Rises || c.best(c.a) > 0.61 {
		t.Errorf("by loss: %v, %+v", err, c)
	}
	worse := sample(t, "attic", -0.02) // its loss rises
	if c, err = Compare(worse, worse, "loss"); err != nil || c.Rises {
		t.Errorf("by a loss that rises: %v, %+v", err, c)
	}
	if _, err = Compare(a, b, "speed"); err == nil || !strings.Contains(err.Error(), "speed") {
		t.Errorf("by what neither has: %v", err)
	}
	for _, r := range []*Run{a, b} {
		for i := range r.Points {
			r.Points[i].Evaluation = nil
		}
	}
	if c, err = Compare(a, b, ""); err != nil || c.Measure != "training loss" || c.Rises {
		t.Errorf("without metrics: %v, %+v", err, c)
	}
}

// TestTensorBoard: the event file has each number under its name, and is replaced whole.
func TestTensorBoard(t *testing.T) {
	r, dir := sample(t, "kitchen", 0.02), t.TempDir()
	sizes := []int{}
	for range 2 {
		if err := r.TensorBoard(dir); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(filepath.Join(dir, "kitchen", "events.out.tfevents.0.zofl"))
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range []string{"metrics/accuracy", "queries", "declines"} {
			if n := bytes.Count(b, []byte(name)); n != len(r.Points) {
				t.Errorf("%s is there %d times, want %d", name, n, len(r.Points))
			}
		}
		sizes = append(sizes, len(b))
	}
	if sizes[0] != sizes[1] {
		t.Errorf("written again it has %d bytes, not %d", sizes[1], sizes[0])
	}
}

// TestMLflow: the files are those of MLflow's documented layout. TestMLflowReads asks MLflow.
func TestMLflow(t *testing.T) {
	r, dir := sample(t, "kitchen", 0.02), t.TempDir()
	for range 2 { // the same run
		if err := r.MLflow(dir); err != nil {
			t.Fatal(err)
		}
	}
	places, err := filepath.Glob(filepath.Join(dir, "*", "*", "meta.yaml"))
	if err != nil || len(places) != 1 {
		t.Fatalf("runs %v, %v", places, err)
	}
	place := filepath.Dir(places[0])
	if meta := readText(t, places[0]); !strings.Contains(meta, "\nstatus: 3\n") ||
		!strings.Contains(meta, fmt.Sprintf("run_id: %q\n", filepath.Base(place))) {
		t.Errorf("meta.yaml is\n%s", meta)
	}
	lines := strings.Split(readText(t, filepath.Join(place, "metrics/metrics/accuracy")), "\n")
	if want := "1795507202000 0.02 2"; len(lines) != len(r.Points)+1 || lines[0] != want {
		t.Errorf("%d lines, the first %s, want %s", len(lines), lines[0], want)
	}
	if got := readText(t, filepath.Join(place, "params/preset")); got != "decomfl" {
		t.Errorf("parameter preset is %s", got)
	}
	if got := readText(t, filepath.Join(place, "tags/mlflow.runName")); got != "kitchen" {
		t.Errorf("the run's name is %s", got)
	}
	for name, want := range map[string]string{"a/b": "a/b", "ü%": "__", "..": "_", "a/../b": "a/_/b"} {
		if got := filepath.ToSlash(fileName(name)); got != want {
			t.Errorf("%s becomes %s, want %s", name, got, want)
		}
	}
}

func readText(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestJSON: a comparison is JSON, whatever a run has not reached.
func TestJSON(t *testing.T) {
	c, err := Compare(sample(t, "kitchen", 0.02), sample(t, "hall", 0.04), "")
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal([]any{c.Reached(), c.Equal(), c.Outcomes()})
	if err != nil || !strings.Contains(string(b), `"a":null`) {
		t.Errorf("%v: %s", err, b)
	}
}

// TestSurveyInWords: a survey is named once, with what followed from it.
func TestSurveyInWords(t *testing.T) {
	r := Run{Marks: []history.Mark{{Kind: history.Surveyed, Survey: "mu", Fields: []string{"mu"},
		Text: "0.01, straight"}}}
	if e := r.Events(); len(e) != 1 || e[0].Text != "of mu: 0.01, straight" {
		t.Errorf("events are %+v", e)
	}
}

// TestInVainInReport: the page names the members whose work counted for nothing, and suspects, once
// each, and says of each why.
func TestInVainInReport(t *testing.T) {
	r := sample(t, "kitchen", 0.02)
	why := "its last 16 answers came late"
	for _, id := range []string{"d7", "d3", "d7"} {
		r.Marks = append(r.Marks, history.Mark{N: 20, Round: 16, Kind: history.InVain, ID: id,
			Text: id + ": " + why})
	}
	r.Marks = append(r.Marks, history.Mark{N: 20, Round: 16, Kind: history.Suspect, ID: "d5"})
	for _, want := range []Fact{{"worked in vain, see events", "d3, d7"},
		{"suspects, see events", "d5"}} {
		if facts := r.Participation(); !slices.Contains(facts, want) {
			t.Errorf("participation %v, want %v", facts, want)
		}
	}
	var page bytes.Buffer
	if err := r.Report(&page); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"d3, d7", "<td>in vain</td><td>d3: " + why} {
		if !strings.Contains(page.String(), part) {
			t.Errorf("the page lacks %q", part)
		}
	}
	if rules := r.rules(); len(rules) != len(sample(t, "kitchen", 0.02).rules()) {
		t.Errorf("curves have a line for a member: %v", rules)
	}
}
