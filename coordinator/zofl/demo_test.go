//go:build !race

package main

import (
	"encoding/json"
	"testing"

	"github.com/zofl/zofl/coordinator/zofl/internal/demo"
	"github.com/zofl/zofl/plan/preset"
)

// TestDemoMethods: the demo of each method runs as typed, but for fewer rounds and devices, and
// ends better than it began.
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

// TestDemoRepeats: runs of one seed make the same model, also where each device's directions are
// those of its slot. An open roster, which has no slots, does not keep the devices waiting.
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
}

// TestDemoClasses: devices whose digits are of few kinds train by classes, and the model ends
// better than it began.
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
