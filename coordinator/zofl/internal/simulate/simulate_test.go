package simulate

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/zofl/zofl/client/objective"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/planfile"
	"github.com/zofl/zofl/plan/preset"
)

// A bowl is an objective with the loss mean of (x_i - at)^2. Its metric is the distance of x from
// at.
type bowl struct{ dim int }

func (b bowl) Dim() int { return b.dim }

func (b bowl) Loss(_ context.Context, x []float32, _ objective.Batch) (float64, error) {
	sum := 0.0
	for _, v := range x {
		sum += (float64(v) - 1) * (float64(v) - 1)
	}
	return sum / float64(len(x)), nil
}

func (b bowl) Evaluate(ctx context.Context, x []float32) ([]float64, int, error) {
	loss, err := b.Loss(ctx, x, objective.Batch{})
	return []float64{loss, math.Sqrt(loss)}, 1, err
}

func bowls(p *plan.Plan, _ uint64) (list []objective.Objective, err error) {
	for range p.Members {
		list = append(list, bowl{int(p.Dim)})
	}
	return list, nil
}

// bowlPlan returns a plan of four devices and eight rounds, with an evaluation after every fourth
// round.
func bowlPlan(t *testing.T) *plan.Plan {
	t.Helper()
	p, err := preset.Unbound("decomfl", "bowl", 20)
	if err != nil {
		t.Fatal(err)
	}
	p.Members, p.Rounds, p.StepSize = 4, 8, 0.5
	p.EvalEvery, p.EvalCount, p.Metrics = 4, 1, []string{"loss", "far"}
	return p
}

// simulated runs a configuration into a directory, and returns what it printed in JSON.
func simulated(t *testing.T, c *Config, dir string) ([]*Run, string) {
	t.Helper()
	runs, err := Runs(c)
	if err != nil {
		t.Fatal(err)
	}
	d, err := NewDir(dir, c.Axes, c.Plan.Metrics)
	if err != nil {
		t.Fatal(err)
	}
	var lines bytes.Buffer
	c.Sinks = []Sink{d, NewLines(&lines)}
	if err := errors.Join(Lead(t.Context(), c, runs), d.Close(runs)); err != nil {
		t.Fatal(err)
	}
	return runs, lines.String()
}

// read returns the lines of a CSV file, by column.
func read(t *testing.T, name string) (lines []map[string]string) {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	all, err := csv.NewReader(file).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, cells := range all[1:] {
		line := make(map[string]string)
		for i, name := range all[0] {
			line[name] = cells[i]
		}
		lines = append(lines, line)
	}
	return lines
}

// TestFilesAgree: all files have the same numbers for each round. The stored plan of a run has the
// run's settings and the run key of the given plan.
func TestFilesAgree(t *testing.T) {
	dir := t.TempDir()
	c := &Config{Plan: bowlPlan(t), Seeds: []uint64{3, 4}, Devices: bowls,
		Axes: []Axis{{"step", []string{"0.5", "1e9"}}, {"difference", []string{"central", "forward"}}}}
	runs, printed := simulated(t, c, dir)
	if len(runs) != 8 {
		t.Fatalf("%d runs, want 2 x 2 settings of 2 seeds", len(runs))
	}
	rows := read(t, filepath.Join(dir, historyFile))
	stored, err := os.ReadFile(filepath.Join(dir, linesFile))
	if err != nil {
		t.Fatal(err)
	}
	var rounds []string
	for line := range strings.Lines(printed) {
		if strings.HasPrefix(line, `{"event":"round"`) {
			rounds = append(rounds, line)
		}
	}
	if string(stored) != strings.Join(rounds, "") || len(rounds) != len(rows) {
		t.Fatalf("%s has %d bytes, %d lines were printed, the table has %d", linesFile, len(stored),
			len(rounds), len(rows))
	}
	at := 0
	for _, r := range runs {
		tags := readEvents(t, filepath.Join(dir, eventsDir, r.Name))
		for _, row := range r.Rows {
			var line struct {
				Run      string
				Settings map[string]string
				Row
			}
			if err := json.Unmarshal([]byte(rounds[at]), &line); err != nil {
				t.Fatal(err)
			}
			same := func(name string, want float64) {
				t.Helper()
				if got, err := strconv.ParseFloat(rows[at][name], 64); err != nil || got != want {
					t.Errorf("%s round %d: %s is %q, want %v", r.Name, row.Round, name, rows[at][name], want)
				}
			}
			same("round", float64(row.Round))
			same("loss", float64(line.Loss))
			same("queries", float64(line.Queries))
			same("up", float64(line.Up))
			same("down", float64(line.Down))
			same("step", float64(line.Step))
			if rows[at]["run"] != r.Name || line.Run != r.Name ||
				rows[at]["settings.step"] != line.Settings["step"] ||
				tags["loss"][row.Round] != float32(row.Loss) ||
				tags["cost/up"][row.Round] != float32(row.Up) {
				t.Errorf("%s round %d: %v, %+v, %v", r.Name, row.Round, rows[at], line, tags["loss"])
			}
			if (row.Round+1)%4 == 0 || row.Round == 8 { // record 1 is the plan
				same("metrics.far", float64(line.Metrics["far"]))
				if tags["metrics/far"][row.Round] != float32(row.Metrics["far"]) {
					t.Errorf("%s: events %v", r.Name, tags["metrics/far"])
				}
			} else if rows[at]["metrics.far"] != "" || row.Metrics != nil {
				t.Errorf("%s: a metric after round %d", r.Name, row.Round)
			}
			at++
		}
		file, err := os.Open(PlanName(dir, r))
		if err != nil {
			t.Fatal(err)
		}
		p, err := planfile.Read(file)
		file.Close()
		if err != nil || p.RunKey.String() != c.Plan.RunKey.String() ||
			p.StepSize != r.Plan.StepSize || p.Difference != r.Plan.Difference {
			t.Errorf("%s: %v, plan %+v", r.Name, err, p)
		}
	}
	checkOutcomes(t, dir, runs)
}

// checkOutcomes: the small step came to its end, the large one diverged, and runs.csv says so.
func checkOutcomes(t *testing.T, dir string, runs []*Run) {
	t.Helper()
	lines := read(t, filepath.Join(dir, runsFile))
	for i, r := range runs {
		o := r.Outcome
		if lines[i]["run"] != r.Name || lines[i]["ended"] != o.Ended {
			t.Errorf("%s: %+v, want %+v", r.Name, lines[i], o)
		}
		if r.Settings[0].Value == "1e9" {
			if o.Ended != "diverged" || lines[i]["loss"] != "" || lines[i]["error"] == "" || o.Done() {
				t.Errorf("%s: %+v, %v", r.Name, o, lines[i])
			}
		} else if o.Ended != "rounds" || o.Rounds != 8 || !(o.Loss < o.First) || !(o.Up > 0) ||
			len(o.Metrics) != 2 {
			t.Errorf("%s: %+v", r.Name, o)
		}
	}
	if best := Best(runs); best == nil || best.Seed != 3 || best.Settings[0].Value != "0.5" {
		t.Errorf("the best is %+v", best)
	}
	svgs, err := filepath.Glob(filepath.Join(dir, "*.svg"))
	if err != nil || len(svgs) != 3 {
		t.Errorf("plots %v, %v", svgs, err)
	}
}

// TestSeeds: the same seed gives the same run, and another seed gives another run.
func TestSeeds(t *testing.T) {
	loss := func(seed uint64) Number {
		c := &Config{Plan: bowlPlan(t), Seeds: []uint64{seed}, Devices: bowls}
		runs, _ := simulated(t, c, t.TempDir())
		return runs[0].Outcome.Loss
	}
	if a, b, other := loss(1), loss(1), loss(2); a != b || a == other {
		t.Errorf("losses %v and %v of seed 1, %v of seed 2", a, b, other)
	}
}

// stopper ends a context in the middle of a run.
type stopper struct {
	end func()
	run int
}

func (s stopper) Begin(*Run) error { return nil }
func (s stopper) End(*Run) error   { return nil }
func (s stopper) Round(r *Run, row Row) error {
	if r.Number == s.run && row.Round == 3 {
		s.end()
	}
	return nil
}

// TestInterrupt: after an interrupt, the files have all rounds so far.
func TestInterrupt(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	dir := t.TempDir()
	c := &Config{Plan: bowlPlan(t), Seeds: []uint64{1, 2, 3}, Devices: bowls}
	c.Plan.Rounds = 1e6
	runs, err := Runs(c)
	if err != nil {
		t.Fatal(err)
	}
	runs[0].Plan.Rounds = 8
	d, err := NewDir(dir, c.Axes, c.Plan.Metrics)
	if err != nil {
		t.Fatal(err)
	}
	c.Sinks = []Sink{d, stopper{end, 2}}
	if err := Lead(ctx, c, runs); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v", err)
	}
	if err := d.Close(runs); err != nil {
		t.Fatal(err)
	}
	lines, history := read(t, filepath.Join(dir, runsFile)), read(t, filepath.Join(dir, historyFile))
	if len(lines) != 2 || lines[0]["ended"] != "rounds" || lines[1]["ended"] != "interrupted" ||
		len(history) < 11 || runs[2].Outcome.Ended != "" {
		t.Errorf("runs %v, %d rounds", lines, len(history))
	}
	if svg, err := os.ReadFile(filepath.Join(dir, "loss.svg")); err != nil ||
		!bytes.Contains(svg, []byte("polyline")) {
		t.Errorf("%v: %s", err, svg)
	}
}

// TestDirectories: NewDir replaces results only if replace is true, and never replaces other files.
func TestDirectories(t *testing.T) {
	top := t.TempDir()
	results := filepath.Join(top, "results")
	c := &Config{Plan: bowlPlan(t), Seeds: []uint64{1}, Devices: bowls,
		Axes: []Axis{{"step", []string{"0.1", "0.2"}}}}
	simulated(t, c, results)
	if err := CheckDir(results, false); !errors.Is(err, fs.ErrExist) ||
		!strings.Contains(err.Error(), "--force") {
		t.Errorf("without --force: %v", err)
	}
	if err := CheckDir(results, true); err != nil {
		t.Errorf("with --force: %v", err)
	}
	c.Axes = nil
	simulated(t, c, results)
	var names []string
	entries, err := os.ReadDir(results)
	for _, e := range entries {
		names = append(names, e.Name())
	}
	plans, _ := os.ReadDir(filepath.Join(results, plansDir))
	if want := []string{"history.csv", "history.jsonl", "loss.svg", "plans", "runs.csv",
		"tensorboard"}; err != nil || !slices.Equal(names, want) || len(plans) != 1 {
		t.Errorf("%v: %v with %d plans, want %v with 1", err, names, len(plans), want)
	}
	for name, files := range map[string][]string{"mine": {"notes.txt"}, "plots": {"a.svg"},
		"mixed": {"runs.csv", "notes.txt"}} {
		dir := filepath.Join(top, name)
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		if err := CheckDir(dir, false); err != nil {
			t.Errorf("an empty directory: %v", err)
		}
		for _, file := range files {
			if err := os.WriteFile(filepath.Join(dir, file), nil, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if err := CheckDir(dir, true); err == nil || !strings.Contains(err.Error(), "another") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestParseAxis(t *testing.T) {
	for text, want := range map[string][]string{
		"step=1e-3, 1e-2":             {"1e-3", "1e-2"},
		"rule=sgd":                    {"sgd"},
		`metrics=["a","b"],["c"]`:     {`["a","b"]`, `["c"]`},
		`segments=[{"a":1,"b":2}],[]`: {`[{"a":1,"b":2}]`, `[]`},
	} {
		if a, err := ParseAxis(text); err != nil || !slices.Equal(a.Values, want) {
			t.Errorf("%s: %q, %v, want %q", text, a.Values, err, want)
		}
	}
	for _, text := range []string{"", "step", "step=", "=1", "step=1,,2", "step=1,1", "metrics=[1,2"} {
		if a, err := ParseAxis(text); err == nil {
			t.Errorf("%q is %+v", text, a)
		}
	}
}

// TestNames: the names of runs are valid file names, and all differ.
func TestNames(t *testing.T) {
	c := &Config{Plan: bowlPlan(t), Seeds: []uint64{1, 2}, Devices: bowls, Axes: []Axis{
		{"metrics", []string{`["loss","far"]`, `["far","loss"]`}}, {"step", []string{"1", "2"}}}}
	runs, err := Runs(c)
	if err != nil {
		t.Fatal(err)
	}
	names := make(map[string]bool)
	for _, r := range runs {
		if strings.ContainsAny(r.Name, "/ \"[]") {
			t.Errorf("the name %q", r.Name)
		}
		names[r.Name] = true
	}
	if len(names) != 8 {
		t.Errorf("%d names", len(names))
	}
	c.Axes = []Axis{{"step", nil}}
	for i := range mostRuns {
		c.Axes[0].Values = append(c.Axes[0].Values, strconv.Itoa(i+1))
	}
	if _, err := Runs(c); err == nil || !strings.Contains(err.Error(), "fewer") {
		t.Errorf("of %d runs: %v", 2*mostRuns, err)
	}
}
