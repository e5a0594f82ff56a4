package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/zofl/zofl/fleet"
)

// A simulated is a line that zofl simulate --json prints.
type simulated struct {
	Event, Run, Ended, Error, Best, Plan, Out string

	Number, Of, Runs int
	Seed             uint64
	Settings         map[string]string
	Round, Rounds    uint64
	Devices          int
	Loss             *float64
	Metrics          map[string]*float64
	Up, Down         float64
	Queries          uint64
	Contributors     int
}

// simulatedLines reads lines of JSON. Lines that are none are left out.
func simulatedLines(t *testing.T, text string) (list []simulated) {
	t.Helper()
	for line := range strings.Lines(text) {
		if !strings.HasPrefix(line, "{") {
			continue
		}
		var e simulated
		if err := json.Unmarshal([]byte(line), &e); err != nil {
			t.Fatalf("%v: %s", err, line)
		}
		list = append(list, e)
	}
	return list
}

// TestSimulate: digits are learned by a good step, and not by a small one; the best plan says so,
// and repeats its run.
func TestSimulate(t *testing.T) {
	name := planFile(t, "--dim", "500", "--run", "kitchen")
	dir := filepath.Join(t.TempDir(), "results")
	args := []string{"simulate", name, "--devices", "4", "--rounds", "12", "--every", "5", "--sweep",
		"step=1e-6,0.1", "--seeds", "2", "--out", dir}
	out, err := zofl(t, append(args, "--json")...)
	if err != nil {
		t.Fatal(err)
	}
	all := simulatedLines(t, out)
	done := all[len(all)-1]
	if len(all) != 4*(1+12+1)+1 || done.Event != "done" || done.Runs != 4 || done.Of != 4 ||
		done.Best != "step=0.1,seed=1" || done.Out != dir {
		t.Fatalf("%d lines, the last %+v", len(all), done)
	}
	var best simulated // how it ended
	for _, e := range all {
		if e.Event == "end" && e.Run == done.Best {
			best = e
		}
	}
	if best.Rounds != 12 || best.Loss == nil || best.Metrics["accuracy"] == nil || !(best.Up > 0) ||
		!(best.Down > best.Up) || best.Settings["step"] != "0.1" || best.Ended != "rounds" {
		t.Errorf("the best run: %+v", best)
	}
	if p, before := readPlan(t, done.Plan), readPlan(t, name); p.StepSize != 0.1 || p.Members != 4 ||
		p.RunKey.String() != before.RunKey.String() {
		t.Errorf("the best plan: %+v", p)
	}
	again, err := zofl(t, "simulate", done.Plan, "--json")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range simulatedLines(t, again) {
		if e.Event == "end" && (*e.Loss != *best.Loss || e.Queries != best.Queries) {
			t.Errorf("again: %+v, the first time %+v", e, best)
		}
	}
	_, err = zofl(t, args...)
	refused(t, err, []string{"--out", dir, "--force"})
	text, err := zofl(t, append(args, "--force")...)
	if err != nil || !hasAll(text, []string{"STEP", "1e-6", "±", "LOSS AT FIRST │ AT THE END",
		"lowest loss at the end is that of step=0.1", "tensorboard --logdir " + dir}) {
		t.Errorf("%v:\n%s", err, text)
	}
}

// TestSimulateThousand: a round of 1,000 devices with a loss that costs nothing.
func TestSimulateThousand(t *testing.T) {
	name := planFile(t, "--preset", "decomfl", "--dim", "100", "--set", "target=1000")
	out, err := zofl(t, "simulate", name, "--objective", "none", "--devices", "1000", "--rounds", "3",
		"--json")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range simulatedLines(t, out) {
		if e.Event == "begin" && e.Devices != 1000 || e.Event == "round" && e.Contributors != 1000 {
			t.Errorf("%+v", e)
		}
	}
}

// TestSimulateDiverges: a sweep goes on after a run that diverged; a simulation of which nothing
// came to its end failed.
func TestSimulateDiverges(t *testing.T) {
	name := planFile(t, "--preset", "decomfl", "--dim", "40", "--set", "rounds=10")
	args := []string{"simulate", name, "--objective", "bowl", "--json", "--sweep"}
	out, err := zofl(t, append(args, "step=1e9,0.1")...)
	if all := simulatedLines(t, out); err != nil || all[len(all)-1].Runs != 1 ||
		all[len(all)-1].Best != "step=0.1,seed=1" {
		t.Errorf("%v: %s", err, out)
	}
	_, err = zofl(t, append(args, "step=1e9,1e10")...)
	if !errors.Is(err, fleet.ErrDiverged) || !strings.Contains(err.Error(), "no run") {
		t.Errorf("got %v", err)
	}
}

// TestSimulatePrivate: neither simulate nor tune needs a secret, and the plans that they store have
// it still.
func TestSimulatePrivate(t *testing.T) {
	t.Run("plain", func(t *testing.T) { simulatePrivate(t, "--preset", "decomfl") })
	private := slices.DeleteFunc(slices.Clone(secured), func(arg string) bool {
		return arg == "--trust-coordinator"
	})
	t.Run("summed", func(t *testing.T) { simulatePrivate(t, private...) }) // with agreed lists
}

func simulatePrivate(t *testing.T, settings ...string) {
	dir := t.TempDir()
	name := planFile(t, append(settings, "--dim", "40", "--set", "rounds=5", "--secret",
		filepath.Join(dir, "secret"))...)
	tuned := filepath.Join(dir, "tuned.json")
	if _, err := zofl(t, "tune", name, "--objective", "bowl", "--devices", "3", "--fields", "step",
		"--rounds", "5", "--out", tuned); err != nil {
		t.Fatal(err)
	}
	results := filepath.Join(dir, "results")
	if _, err := zofl(t, "simulate", tuned, "--objective", "bowl", "--devices", "3", "--out",
		results); err != nil {
		t.Fatal(err)
	}
	want := readPlan(t, name)
	for _, file := range []string{tuned, filepath.Join(results, "plans", "seed=1.json")} {
		if p := readPlan(t, file); !p.Private() || p.KeyCheck.String() != want.KeyCheck.String() ||
			len(p.RunKey) > 0 || p.SecureLists != want.SecureLists {
			t.Errorf("%s: %+v", file, p)
		}
	}
}

func TestSimulateRefuses(t *testing.T) {
	name := planFile(t, "--dim", "500", "--set", "rounds=3")
	endless := planFile(t, "--dim", "500", "--set", "rounds=0")
	sums := planFile(t, "--preset", "decomfl", "--dim", "10", "--set", "secure=sum", "--set",
		"max_scalar=10", "--trust-coordinator")
	taken := t.TempDir()
	if err := os.WriteFile(filepath.Join(taken, "mine"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ args, want []string }{
		{nil, []string{"0 files", "zofl plan"}},
		{[]string{name, name}, []string{"2 files"}},
		{[]string{name + "x"}, []string{"plan.jsonx"}},
		{[]string{endless}, []string{"rounds = 0", "--rounds"}},
		{[]string{sums, "--objective", "bowl", "--rounds", "9", "--devices", "2"}, []string{"quorum = 2",
			"set quorum=3"}},
		{[]string{name, "--seeds", "0"}, []string{"--seeds 0"}},
		{[]string{name, "--devices", "-1"}, []string{"--devices -1"}},
		{[]string{name, "--objective", "odd"}, []string{"--objective odd: ", "none"}},
		{[]string{name, "--objective", "bowl", "--every", "3"}, []string{"--every", "no metrics"}},
		{[]string{name, "--objective", "bowl", "--split", "iid"}, []string{"--split", "digits"}},
		{[]string{name, "--sweep", "step"}, []string{"--sweep", "FIELD=VALUE"}},
		{[]string{name, "--sweep", "step=1", "--sweep", "step=2"}, []string{"step is there twice"}},
		{[]string{name, "--sweep", "stepz=1"}, []string{"stepz"}},
		{[]string{name, "--sweep", "beta=0,1.5"}, []string{"beta = 1.5"}},
		{[]string{name, "--sweep", "members=3,4", "--devices", "5"}, []string{"--devices", "members"}},
		{[]string{name, "--objective", "bowl", "--sweep", "members=3,0"}, []string{"members = 0: "}},
		{[]string{name, "--sweep", "members=0"}, []string{"members = 0: ", "1..16777216"}},
		{[]string{name, "--sweep", "members=16777217"}, []string{"members = 16777217: "}},
		{[]string{name, "--sweep", "dim=500,501"}, []string{"dim = 501", "--objective bowl"}},
		{[]string{name, "--force"}, []string{"--force", "--out"}},
		{[]string{name, "--out", taken}, []string{"--out", taken, "--force"}},
		{[]string{name, "--out", taken, "--force"}, []string{"mine", "another directory"}},
		{[]string{name, "--initial", "x.f32"}, []string{"--initial"}},
	} {
		_, err := zofl(t, append([]string{"simulate"}, c.args...)...)
		t.Run(strings.Join(c.args, " "), func(t *testing.T) { refused(t, err, c.want) })
	}
	if entries, _ := os.ReadDir(taken); len(entries) != 1 {
		t.Errorf("files of others: %v", entries)
	}
}

// TestSimulateStops: after an interrupt, simulate keeps the results so far, and says how far it
// came.
func TestSimulateStops(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	dir := filepath.Join(t.TempDir(), "results")
	cmd := root()
	var out bytes.Buffer
	cmd.SetOut(writer(func(b []byte) (int, error) {
		if bytes.Contains(b, []byte(`"round":5,`)) {
			cancel()
		}
		return out.Write(b)
	}))
	cmd.SetArgs([]string{"simulate", planFile(t, "--preset", "decomfl", "--dim", "40"), "--objective",
		"bowl", "--rounds", "100000000", "--out", dir, "--json"})
	if err := cmd.ExecuteContext(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	all := simulatedLines(t, out.String())
	if end := all[len(all)-2]; end.Ended != "interrupted" || end.Rounds < 5 ||
		all[len(all)-1].Event != "done" || all[len(all)-1].Error == "" {
		t.Errorf("%s", out.String())
	}
	for _, name := range []string{"runs.csv", "history.csv", "history.jsonl", "loss.svg"} {
		if info, err := os.Stat(filepath.Join(dir, name)); err != nil || info.Size() < 100 {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A writer is a function that writes.
type writer func(b []byte) (int, error)

func (w writer) Write(b []byte) (int, error) { return w(b) }
