//go:build !race

package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/coordinator/zofl/internal/demo"
	"github.com/zofl/zofl/plan/preset"
)

func TestDemoJSON(t *testing.T) {
	out, err := zofl(t, "demo", "--method", "decomfl", "--json", "--rounds", "12", "--devices", "3",
		"--set", "steps=2", "--set", "distribution=rademacher", "--set", "eval_every=5", "--split",
		"iid")
	if err != nil {
		t.Fatal(err)
	}
	var got map[string]any
	if err := json.Unmarshal([]byte(out), &got); err != nil {
		t.Fatalf("%v in %q", err, out)
	}
	for key, want := range map[string]any{
		"method": "decomfl", "rounds": 12.0, "clients": 3.0, "parameters": 7850.0,
		"queries": 12.0 * 3 * 2 * 2 * 10, "replicas": 4.0, "replicas_agree": true,
		"ended": "rounds",
	} {
		if got[key] != want {
			t.Errorf("%s = %v, want %v", key, got[key], want)
		}
	}
	for _, key := range []string{"loss", "accuracy", "loss_before", "accuracy_before",
		"bytes_up_per_client_round", "bytes_down_per_client_round", "seconds"} {
		if v, ok := got[key].(float64); !ok || v <= 0 {
			t.Errorf("%s = %v, want a positive number", key, got[key])
		}
	}
}

// TestDemoDense: the vectors of a run make the replay that devices are compared with.
func TestDemoDense(t *testing.T) {
	out, err := zofl(t, "demo", "--method", "fedzo-dense", "--rounds", "8", "--devices", "2",
		"--set", "steps=2", "--set", "perturbations=20", "--set", "step=1e-3")
	if err != nil || cell(out, "replicas agree") != "true" ||
		!strings.HasSuffix(cell(out, "test loss"), "; 2.3026 before round 1") {
		t.Errorf("%v:\n%s", err, out)
	}
}

// TestDemoSaysWhatFailed: a demo whose model did not improve reports that, and does not exit with
// 0.
func TestDemoSaysWhatFailed(t *testing.T) {
	out, err := zofl(t, "demo", "--method", "decomfl", "--rounds", "1", "--devices", "2", "--set",
		"step=1e-18")
	if cli.ExitCode(err, false) != cli.ExitFailure || !strings.Contains(err.Error(), "no better") ||
		!strings.Contains(err.Error(), "--rounds") || cell(out, "replicas agree") != "true" {
		t.Errorf("exit code %d, %v:\n%s", cli.ExitCode(err, false), err, out)
	}
}

// TestDemoMethods: the demo of each method, with fewer rounds and devices, ends with a better model
// than it began with.
func TestDemoMethods(t *testing.T) {
	for _, method := range preset.Names() {
		if testing.Short() && method != "fedzo" && method != "scaffold-1" {
			continue
		}
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			rounds, clients := "4", "4"
			switch method {
			case "mezo": // one direction a round
				rounds = "100"
			case "zofl", "zofl-shared": // five rounds before the step is found
				rounds = "12"
			case "zofedavg-gd", "zofedavg-gd-shared": // all data in each evaluation
				rounds, clients = "6", "2"
			}
			out, err := zofl(t, "demo", "--method", method, "--rounds", rounds, "--devices", clients,
				"--json")
			var result demo.Result
			if jsonErr := json.Unmarshal([]byte(out), &result); err != nil || jsonErr != nil {
				t.Fatalf("%v, %v: %s", err, jsonErr, out)
			}
			if !result.Improved() || result.Ended != "rounds" || result.LossBefore < 2.3 {
				t.Errorf("%s", out)
			}
		})
	}
}

// TestDemoRepeats: demos with the same seed make the same model, even if each device has the
// directions of its slot. With an open roster, which has no slots, devices join without waiting.
func TestDemoRepeats(t *testing.T) {
	same := ""
	for range 3 {
		out, err := zofl(t, "demo", "--split", "iid", "--devices", "6", "--rounds", "12", "--set",
			"eval_every=0")
		if err != nil || cell(out, "test loss") != same && same != "" {
			t.Errorf("%v: test loss %s, and %s before", err, cell(out, "test loss"), same)
		}
		same = cell(out, "test loss")
	}
	out, err := zofl(t, "demo", "--devices", "3", "--rounds", "6", "--set", "roster=open")
	if err != nil || cell(out, "replicas agree") != "true" {
		t.Errorf("%v:\n%s", err, out)
	}
	typed(t, out)
}

// typed types what a demo says to type next: the plan is written, and the other commands exist with
// these flags.
func typed(t *testing.T, out string) {
	t.Helper()
	t.Chdir(t.TempDir())
	commands := 0
	for _, line := range strings.Split(out, "\n") {
		text, found := strings.CutPrefix(strings.TrimPrefix(strings.TrimSpace(line), "On a page: "),
			"zofl ")
		if !found {
			continue
		}
		commands++
		cmd, flags, err := root().Find(strings.Fields(text))
		if err == nil {
			err = cmd.ParseFlags(flags)
		}
		if err == nil && cmd.Name() == "plan" {
			_, err = zofl(t, strings.Fields(text)...)
		}
		if err != nil {
			t.Errorf("%s: %v", line, err)
		}
	}
	if _, err := os.Stat("first.json"); err != nil || commands != 4 {
		t.Errorf("%d commands, %v, in:\n%s", commands, err, out)
	}
}

// TestDemoClasses: devices with digits of few classes train by classes, and the model improves.
func TestDemoClasses(t *testing.T) {
	out, err := zofl(t, "demo", "--rounds", "12", "--devices", "10", "--split", "shards", "--json",
		"--set", "groups=sketch", "--set", "group_size=5", "--set", "regroup=5", "--set", "classes=10")
	var result demo.Result
	if jsonErr := json.Unmarshal([]byte(out), &result); err != nil || jsonErr != nil {
		t.Fatalf("%v, %v: %s", err, jsonErr, out)
	}
	if !result.Improved() || result.Ended != "rounds" || !result.ReplicasAgree {
		t.Errorf("%s", out)
	}
}
