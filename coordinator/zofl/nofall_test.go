//go:build !race

package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/zofl/broker/freeport"
)

// TestServeSaysThatNothingIsLearned: if the loss has not fallen after half of the rounds, `zofl
// status` says so, with a remedy, and the history has one mark of it. A run that learns has no such
// mark.
func TestServeSaysThatNothingIsLearned(t *testing.T) {
	for _, c := range []struct {
		step string
		want bool
	}{{"1e-15", true}, {"1e-2", false}} {
		k := newKitchenOf(t, []string{"--preset", "decomfl", "--set", "step=" + c.step, "--set",
			"rounds=80"})
		k.device("a")
		k.device("b")
		k.reach(81)
		table, err := zofl(t, "status", "--url", k.url, "--run", "kitchen")
		if err != nil || strings.Contains(table, "does not learn") != c.want ||
			strings.Contains(table, "docs/faq.md") != c.want {
			t.Errorf("step %s: %v\n%s", c.step, err, table)
		}
		past, err := zofl(t, "history", "--url", k.url, "--run", "kitchen", "--json")
		if err != nil || strings.Count(past, `"no fall"`) > 1 ||
			strings.Contains(past, `"no fall"`) != c.want {
			t.Errorf("step %s: %v\n%s", c.step, err, past)
		}
		if err := k.lead.stop(); err != nil {
			t.Error(err)
		}
	}
}

// TestDecayBesideAFoundStepIsTold: each command that takes a plan warns of a decay beside a step
// that devices find.
func TestDecayBesideAFoundStepIsTold(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "plan.json")
	out, err := zofl(t, "plan", "--run", "kitchen", "--dim", fmt.Sprint(kitchenDim), "--write", file,
		"--set", "members=2", "--set", "rounds=9", "--set", "server_decay=0.03")
	said := map[string]string{"plan": out}
	for name, args := range map[string][]string{
		"simulate": {"simulate", file, "--objective", "bowl"},
		"tune": {"tune", file, "--objective", "bowl", "--devices", "2", "--fields", "step",
			"--rounds", "8", "--out", filepath.Join(dir, "tuned.json")},
	} {
		text, failed := zofl(t, args...)
		said[name], err = text, errors.Join(err, failed)
	}
	if err != nil {
		t.Error(err)
	}
	serve := start(t, "serve", file, "--store", filepath.Join(dir, "log"), "--listen",
		freeport.Address(t))
	serve.says(&serve.stderr, "server_decay=0.03 pulls every parameter")
	for name, text := range said {
		if !strings.Contains(strings.Join(strings.Fields(text), " "), "server_decay=0.03 pulls every") {
			t.Errorf("zofl %s does not warn: %s", name, text)
		}
	}
}

// TestChangedDecayIsTold: `zofl change` warns of a decay beside a step that devices find, and not
// beside a step that a person gives.
func TestChangedDecayIsTold(t *testing.T) {
	k := newKitchenOf(t, []string{"--preset", "zofl"})
	k.device("a")
	k.device("b")
	k.reach(1)
	for _, tt := range []struct {
		fields []string
		warns  bool
	}{
		{[]string{"server_decay=0.03"}, true},
		{[]string{"server_decay=0.02", "step=0.1"}, false},
		{[]string{"step=auto"}, true},
		{[]string{"quorum=1"}, false},
		{[]string{"server_decay=0"}, false},
	} {
		s, err := k.ask(append([]string{"change"}, tt.fields...)...)
		if err != nil {
			t.Fatal(tt.fields, err)
		}
		if strings.Contains(s.Warning, "pulls every parameter") != tt.warns {
			t.Errorf("%v: warning %q", tt.fields, s.Warning)
		}
	}
	p := start(t, "change", "server_decay=0.03", "--url", k.url, "--run", "kitchen")
	p.says(&p.stderr, "server_decay=0.03 pulls every parameter")
}
