//go:build !race

package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/zofl/internal/demo"
	"github.com/zofl/zofl/plan/preset"
)

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
