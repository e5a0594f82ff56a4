package main

import (
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zofl/zofl/plan/cost"
)

// TestPlanChooses: without --preset a plan gets the preset that suits what its author says, and
// says why in one line. What the author names wins, and what the chosen preset excludes.
func TestPlanChooses(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "plan.json")
	for _, c := range []struct{ args, preset, why string }{
		{"--dim 6 --evaluations 300", "cma", "6 parameters"},
		{"--dim 6 --set members=1 --noise --unlike --write " + file, "cma", "6 parameters"},
		{"--dim 7850", "zofl", "own step"},
		{"--segments relu:3x2,2x1", "cma", "11 parameters"},
		{"--dim 7850 --unlike --noise", "zofl", "own step"},
		{"--dim 6 --preset zofl --evaluations 300", "zofl", ""},
		{"--dim 6 --preset decomfl", "decomfl", ""},
		{"--dim 6 --set batch=32", "zofl", "minibatches"},
		{"--dim 6 --set members=20 --set target=10", "zofl", "some of the devices"},
		{"--dim 6 --set late=8", "zofl", "excludes late=8"},
		{`--dim 6 --set boxes=[{"low":0,"high":1}]`, "cma", "6 parameters"},
		{"--dim 6 --liars 2", "zofl", "may lie"},
		{"--dim 2000000 --set sharing=per-client", "zofl", "excludes a field"},
		{`--dim 300 --set boxes=[{"low":0,"high":1}]`, "fzoos", "limits"},
		{"--dim 2000000", "zofl-shared", "millions"},
	} {
		args := append([]string{"plan"}, strings.Fields(c.args)...)
		out, err := zofl(t, args...)
		line := ""
		for l := range strings.Lines(out) {
			if strings.HasPrefix(l, "why ") {
				line += l
			}
		}
		if err != nil || !strings.Contains(out, "method   "+c.preset+":") ||
			strings.Count(line, "\n") != min(len(c.why), 1) || !strings.Contains(line, c.why) {
			t.Errorf("%s: %v, want %s because %q:\n%s", c.args, err, c.preset, c.why, out)
		}
	}
	out, err := zofl(t, "plan", "--dim", "6", "--json")
	var got struct{ Why string }
	if json.Unmarshal([]byte(out), &got) != nil || err != nil || got.Why == "" {
		t.Errorf("JSON: %v, why %q", err, got.Why)
	}
	if out, err := zofl(t, "plan", file); err != nil || strings.Contains(out, "\nwhy ") ||
		!strings.Contains(out, "method   cma:") {
		t.Errorf("%v: a file's plan keeps its preset, which nobody chose now:\n%s", err, out)
	}
}

// TestPlanEvaluations: the rounds fit the evaluations, or the seconds, also in a file's plan.
func TestPlanEvaluations(t *testing.T) {
	file := filepath.Join(t.TempDir(), "plan.json")
	if _, err := zofl(t, "plan", "--dim", "6", "--set", "rounds=9", "--write", file); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args string
		most uint64
	}{
		{"--dim 6 --evaluations 300", 300},
		{"--dim 6 --evaluations 300 --preset zofl", 300},
		{"--dim 700 --evaluations 300", 300},
		{"--dim 6 --evaluations 600 --preset fzoos", 600},
		{"--dim 6 --seconds 30 --loss-seconds 0.1", 300},
		{"--dim 6 --seconds 30 --loss-seconds 0.1 --evaluations 200", 200},
		{file + " --evaluations 500", 500},
	} {
		p := readPlan(t, strings.Fields(c.args)...)
		if cost.Queries(p, p.Rounds) > c.most || cost.Queries(p, p.Rounds+1) <= c.most {
			t.Errorf("%s: %d rounds take %d evaluations", c.args, p.Rounds, cost.Queries(p, p.Rounds))
		}
	}
	p := readPlan(t, "--dim", "6", "--loss-seconds", "20", "--preset", "zofl")
	if p.Deadline < 760_000 {
		t.Errorf("a round of 19 losses of 20 s has a deadline of %d ms", p.Deadline)
	}
	for _, c := range [][]string{
		{"--dim 6 --evaluations 3", "evaluations", "allow as many"},
		{"--dim 6 --evaluations 0", "--evaluations 0", "1 or more"},
		{"--dim 6 --evaluations x", "--evaluations x", "whole number"},
		{"--dim 6 --evaluations 300 --set rounds=9", "--evaluations", "rounds=9", "only one"},
		{"--dim 6 --seconds 60", "--seconds 60", "--loss-seconds"},
		{"--dim 6 --seconds 0 --loss-seconds 1", "--seconds 0", "above 0"},
		{"--dim 6 --seconds 60 --loss-seconds -1", "--loss-seconds -1", "above 0"},
		{"--dim 6 --seconds NaN --loss-seconds 1", "--seconds NaN", "above 0"},
		{"--dim 6 --loss-seconds 1e9", "deadline", "shorter loss"},
		{file + " --noise", "--noise", "begin a new plan"},
		{"--dim 6 --noise 0.01", "0.01", "take no value"},
		{file + " --preset zofl --unlike", "--preset", "--unlike"},
		{"--fields --evaluations 300", "--evaluations", "--fields"},
		{"--dim 6 --seconds 9 --loss-seconds 3 --preset zofl", "evaluations = 3"},
	} {
		_, err := zofl(t, append([]string{"plan"}, strings.Fields(c[0])...)...)
		refused(t, err, c[1:])
	}
}
