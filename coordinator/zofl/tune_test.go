package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/zofl/internal/verb/lab"
	"github.com/zofl/zofl/plan"
	"github.com/zofl/zofl/plan/planfile"
)

// planFile stores a plan and returns its name.
func planFile(t *testing.T, args ...string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "plan.json")
	if _, err := zofl(t, append([]string{"plan", "--write", name}, args...)...); err != nil {
		t.Fatal(err)
	}
	return name
}

// TestTune: a step that is far off is found on digits, twice the same; the plan is stored once, and
// is otherwise the one given.
func TestTune(t *testing.T) {
	if testing.Short() {
		t.Skip("three tunings, of which tests of fleet/tune show the race detector the code")
	}
	name := planFile(t, "--dim", "500", "--run", "kitchen", "--set", "step=1e-5")
	out := filepath.Join(t.TempDir(), "tuned.json")
	args := []string{"tune", name, "--queries", "3000", "--devices", "3", "-o", out}
	first, err := zofl(t, args...)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"STAGE", "bracket", "refine", "even part / odd part", "█",
		"mu=", "step=", "perturbations=", "batch=", "of 3000 loss evaluations", out} {
		if !strings.Contains(first, want) {
			t.Errorf("no %q in:\n%s", want, first)
		}
	}
	before, tuned := readPlan(t, name), readPlan(t, out)
	if ratio := tuned.StepSize / before.StepSize; ratio < 100 {
		t.Errorf("step %v, want far more than %v:\n%s", tuned.StepSize, before.StepSize, first)
	}
	if tuned.RunKey.String() != before.RunKey.String() || tuned.Run != "kitchen" {
		t.Errorf("the plan of run %s has key %v, want kitchen's %v", tuned.Run, tuned.RunKey,
			before.RunKey)
	}
	_, err = zofl(t, args...)
	refused(t, err, []string{"--out", out, "--force"})
	again, err := zofl(t, append(args, "--force")...)
	if err != nil || again != first {
		t.Errorf("%v: the second time:\n%s\nthe first:\n%s", err, again, first)
	}
	if files, _ := os.ReadDir(filepath.Dir(out)); len(files) != 1 {
		t.Errorf("files are left: %v", files)
	}
	text, err := zofl(t, "tune", name, "--queries", "3000", "--devices", "3")
	if err != nil {
		t.Fatal(err)
	}
	makes(t, text, out+".2", tuned)
}

// makes runs the command that a tuning without --out prints, and compares the plan that it stores.
func makes(t *testing.T, text, name string, want *plan.Plan) {
	t.Helper()
	_, command, _ := strings.Cut(text, "  zofl ")
	words := strings.Fields(strings.Replace(command, "tuned.json", name, 1))
	if _, err := zofl(t, words...); err != nil {
		t.Fatalf("%s: %v", command, err)
	}
	if got := readPlan(t, name); !reflect.DeepEqual(got, want) {
		t.Errorf("the command makes the plan %+v, want %+v", got, want)
	}
}

// TestTuneAuto: what devices have yet to find is "auto" in the table, not 0, and is left to them in
// the tuned plan. The command that is printed makes the same plan as --out.
func TestTuneAuto(t *testing.T) {
	name := planFile(t, "--preset", "zofl", "--dim", "60")
	out := filepath.Join(t.TempDir(), "tuned.json")
	args := []string{"tune", name, "--objective", "bowl", "--devices", "3", "--queries", "2500"}
	text, err := zofl(t, args...)
	if err != nil {
		t.Fatal(err)
	}
	rows := map[string][]string{}
	for line := range strings.Lines(text) {
		if cells := strings.Split(line, "│"); len(cells) > 3 {
			rows[strings.TrimSpace(cells[1])] = []string{strings.TrimSpace(cells[2]),
				strings.TrimSpace(cells[3])}
		}
	}
	if got := fmt.Sprint(rows["start"]); got != "[auto auto]" {
		t.Errorf("the start has mu and step %s:\n%s", got, text)
	}
	for _, stage := range []string{"mu", "refine"} {
		if row := rows[stage]; len(row) < 2 || row[0] == "auto" || (row[1] == "auto") != (stage == "mu") {
			t.Errorf("stage %s has mu and step %v:\n%s", stage, row, text)
		}
	}
	if _, err := zofl(t, append(args, "--out", out)...); err != nil {
		t.Fatal(err)
	}
	tuned := readPlan(t, out)
	if tuned.StepAuto == 0 || tuned.StepSize != 0 || tuned.Perturbations == 10 {
		t.Errorf("the tuned plan has step %v, step_auto %d", tuned.StepSize, tuned.StepAuto)
	}
	makes(t, text, out+".2", tuned)
}

// TestTuneJSON: one object, also of trials that diverge; fields limit what is tuned.
func TestTuneJSON(t *testing.T) {
	name := planFile(t, "--preset", "decomfl", "--dim", "40", "--set", "step=1000", "--set",
		"members=5")
	out, err := zofl(t, "tune", name, "--objective", "bowl", "--json", "--fields", "step",
		"--rounds", "20")
	if err != nil {
		t.Fatal(err)
	}
	var got struct {
		Plan            *planfile.Plan
		Before          float64         `json:"loss_before"`
		Loss            float64         `json:"loss"`
		Trials          []lab.TrialLine `json:"trials"`
		Queries, Budget uint64
	}
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	sum, diverged := uint64(0), false
	for _, trial := range got.Trials {
		sum += trial.Queries
		diverged = diverged || trial.Outcome != "" && trial.Loss == nil
	}
	if !(got.Loss < got.Before) || sum != got.Queries || got.Queries > got.Budget || !diverged ||
		got.Plan.Mu != 1e-3 || got.Plan.StepSize == 1000 || got.Plan.Perturbations != 10 {
		t.Errorf("%s", out)
	}
}

func TestTuneRefuses(t *testing.T) {
	name := planFile(t, "--dim", "500")
	other := planFile(t, "--dim", "501")
	classed := planFile(t, "--dim", "500", "--set", "groups=sketch", "--set", "group_size=5",
		"--set", "regroup=9", "--set", "classes=12")
	for _, c := range []struct{ args, want []string }{
		{nil, []string{"0 files"}},
		{[]string{classed}, []string{"classes = 12", "have 10", "classes=0"}},
		{[]string{classed, "--objective", "bowl"}, []string{"classes = 12", "not told by class"}},
		{[]string{name, name}, []string{"2 files"}},
		{[]string{name + "x"}, []string{"plan.jsonx"}},
		{[]string{other}, []string{"dim = 501", "7850", "500", "--objective bowl"}},
		{[]string{name, "--force"}, []string{"--force", "--out"}},
		{[]string{name, "--fields", "beta"}, []string{"--fields beta: ", "mu, step"}},
		{[]string{name, "--queries", "5"}, []string{"--queries 5: ", "the default is"}},
		{[]string{name, "--devices", "-1"}, []string{"--devices -1: give"}},
		{[]string{name, "--objective", "bowl", "--devices", "-1"}, []string{"--devices -1: give"}},
		{[]string{name, "--split", "odd"}, []string{"--split odd: choose"}},
		{[]string{name, "--objective", "odd"}, []string{"--objective odd: "}},
		{[]string{name, "--objective", "bowl", "--data", "x"}, []string{"--data", "digits"}},
		{[]string{name, "--initial", "x.f32"}, []string{"--initial"}},
	} {
		_, err := zofl(t, append([]string{"tune"}, c.args...)...)
		t.Run(strings.Join(c.args, " "), func(t *testing.T) { refused(t, err, c.want) })
	}
}

// TestTuneStops: an interrupt ends zofl tune, and tune then stores no plan.
func TestTuneStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	out := filepath.Join(t.TempDir(), "tuned.json")
	cmd := root()
	cmd.SetArgs([]string{"tune", planFile(t, "--dim", "500"), "-o", out})
	if err := cmd.ExecuteContext(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(out); err == nil {
		t.Error("a plan was stored")
	}
}
