package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/zofl/internal/vector"
)

// TestSimulateTellsProgress: a parent that says progress=1 gets all lines as requests. It ends the
// second run after round 3, and the model of each run is in its file.
func TestSimulateTellsProgress(t *testing.T) {
	p := newParent(t)
	p.hello += " progress=1"
	p.follow = func(line string) string {
		if strings.Contains(line, `"seed":2`) && strings.Contains(line, `"round":3,`) {
			return "ok stop"
		}
		return "ok"
	}
	models := filepath.Join(t.TempDir(), "models")
	text, err := p.run("simulate", bowlFile(t), "--json", "--devices", "2", "--seeds", "2",
		"--rounds", "5", "--models", models)
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if _, err := newParent(t).run("simulate", bowlFile(t), "--rounds", "5", "--models",
		models); err == nil || !strings.Contains(err.Error(), "seed=1.npy") {
		t.Errorf("a directory with models: %v", err)
	}
	if list := simulatedLines(t, text); len(list) != 1 || list[0].Runs != 2 {
		t.Errorf("lines of JSON beside the requests: %s", text)
	}
	if len(p.told) != 1+5+1+1+3+1 {
		t.Fatalf("told %d times: %q", len(p.told), p.told)
	}
	for i, want := range map[int]string{6: "rounds", 11: "stopped"} {
		var end struct {
			Event, Ended, Model string
			Rounds              int
			Loss                *float64
		}
		if err := json.Unmarshal([]byte(p.told[i]), &end); err != nil {
			t.Fatal(err)
		}
		if end.Event != "end" || end.Ended != want || end.Loss == nil {
			t.Errorf("%+v", end)
		}
		x, err := vector.Read(end.Model)
		if err != nil || len(x) != kitchenDim || x[0] == 0 || filepath.Dir(end.Model) != models {
			t.Errorf("model %v of %q: %v", x, end.Model, err)
		}
	}
}

// TestSimulateWithinQueries: a run ends before its evaluations exceed the bound, and a bound that
// no round keeps is refused.
func TestSimulateWithinQueries(t *testing.T) {
	p := newParent(t)
	text, err := p.run("simulate", bowlFile(t), "--json", "--devices", "2", "--rounds", "100",
		"--queries", "150")
	if list := simulatedLines(t, text); err != nil || p.losses > 150 || p.losses < 100 ||
		list[len(list)-2].Ended != "rounds" {
		t.Errorf("%d losses: %v: %s", p.losses, err, text)
	}
	if _, err := newParent(t).run("simulate", bowlFile(t), "--rounds", "9", "--queries",
		"3"); err == nil || !strings.Contains(err.Error(), "--queries 3: the first round alone takes") {
		t.Errorf("got %v", err)
	}
}

// TestTuneTellsProgress: a parent that says progress=1 learns of each trial, and may end the
// search. The plan and the model are then the best so far.
func TestTuneTellsProgress(t *testing.T) {
	p := newParent(t)
	p.hello += " progress=1"
	p.follow = func(line string) string {
		if strings.Contains(line, `"stage":"bracket"`) {
			return "ok stop"
		}
		return "ok"
	}
	text, err := p.run("tune", bowlFile(t, "--set", "step=1e-5"), "--json", "--devices", "2")
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	var got struct {
		Trials, Reasons []any
		Plan            any
	}
	if err := json.Unmarshal([]byte(text), &got); err != nil || got.Plan == nil {
		t.Fatalf("%v: %s", err, text)
	}
	if len(got.Trials) != len(p.told) || !strings.Contains(text, "ended the search") {
		t.Errorf("%d trials, told %d times: %s", len(got.Trials), len(p.told), text)
	}
	var last struct {
		Event         string
		Spent, Budget int
	}
	if err := json.Unmarshal([]byte(p.told[len(p.told)-1]), &last); err != nil ||
		last.Event != "trial" || last.Spent != p.losses || last.Budget <= last.Spent {
		t.Errorf("%+v after %d losses, %v", last, p.losses, err)
	}
}

// TestTuneKeepsModel: --model has the model of the best trial.
func TestTuneKeepsModel(t *testing.T) {
	model := filepath.Join(t.TempDir(), "best.npy")
	args := []string{"tune", bowlFile(t), "--devices", "2", "--fields", "step", "--rounds", "12",
		"--model", model}
	if text, err := newParent(t).run(args...); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	x, err := vector.Read(model)
	if err != nil || len(x) != kitchenDim || !(x[0] > 0.2) {
		t.Errorf("%v, %v", x, err)
	}
	if _, err := newParent(t).run(args...); err == nil || !strings.Contains(err.Error(), "--model") {
		t.Errorf("an existing file: %v", err)
	}
	if _, err := os.Stat(model); err != nil {
		t.Error(err)
	}
}
