package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/zofl/internal/operate"
)

// TestBestModel: status, history, report and export know the best model, from the coordinator and
// from a log that nobody leads, and patience ends the run.
func TestBestModel(t *testing.T) {
	k := newKitchen(t)
	k.reach(1)
	_, err := zofl(t, "export", "--url", k.url, "--run", "kitchen", "--best", "--out",
		filepath.Join(k.dir, "none.npy"))
	if err == nil || !strings.Contains(err.Error(), "zofl change best=METRIC") {
		t.Errorf("a plan without best: %v", err)
	}
	if _, err := k.ask("change", "best=loss"); err != nil {
		t.Fatal(err)
	}
	k.device("a")
	k.device("b")
	s := k.reach(60)
	for s.Best == nil || s.Best.Since < 2 {
		s = k.reach(s.N + 5)
	}
	k.ends()
	if s, err = k.ask("status"); err != nil || s.End != "patience" || s.Best == nil ||
		!strings.Contains(s.Reason, fmt.Sprintf("loss was best after record %d", s.Best.N)) {
		t.Fatalf("%v, ended %q: %q, the best is %+v", err, s.End, s.Reason, s.Best)
	}
	text, err := zofl(t, "status", "--url", k.url, "--run", "kitchen")
	if want := fmt.Sprintf("after record %d (round", s.Best.N); err != nil ||
		!strings.Contains(text, want) {
		t.Errorf("%v, the status is\n%s", err, text)
	}
	k.exports(s, "live", "--url", k.url, "--run", "kitchen")
	if err := k.lead.stop(); err != nil {
		t.Fatal(err)
	}
	k.exports(s, "stored", "--store", k.log)
	text, err = zofl(t, "history", "--store", k.log, "--from", "0")
	if err != nil || !strings.Contains(text, "the best model so far") {
		t.Errorf("%v, the history is\n%s", err, text)
	}
	page := filepath.Join(k.dir, "page.html")
	if _, err := zofl(t, "report", "--store", k.log, "--out", page); err != nil {
		t.Fatal(err)
	}
	if text, err := os.ReadFile(page); err != nil || !strings.Contains(string(text), s.Best.String()) {
		t.Errorf("%v: the page does not say %q", err, s.Best)
	}
	_, err = zofl(t, "export", "--store", k.log, "--best", "--at", "3", "--out",
		filepath.Join(k.dir, "both.npy"))
	if err == nil || !strings.Contains(err.Error(), "--at") {
		t.Errorf("--best and --at: %v", err)
	}
}

// ends gives the run a patience that is over soon, and waits for the end.
func (k *kitchen) ends() {
	k.t.Helper()
	if _, err := k.ask("change", "patience=1"); err != nil {
		k.t.Fatal(err)
	}
	for s := k.reach(1); s.State != "ended"; s = k.reach(1) {
	}
}

// exports checks that --best exports the model after the best record.
func (k *kitchen) exports(s *operate.Status, name string, from ...string) {
	k.t.Helper()
	var files [2][]byte
	for i, which := range [][]string{{"--best"}, {"--at", fmt.Sprint(s.Best.N)}} {
		out := filepath.Join(k.dir, fmt.Sprint(name, i, ".f32"))
		args := append(append([]string{"export", "--out", out}, from...), which...)
		if _, err := zofl(k.t, args...); err != nil {
			k.t.Fatalf("%v: %v", args, err)
		}
		var err error
		if files[i], err = os.ReadFile(out); err != nil {
			k.t.Fatal(err)
		}
	}
	if len(files[0]) == 0 || !bytes.Equal(files[0], files[1]) {
		k.t.Errorf("%s: --best is not the model after record %d", name, s.Best.N)
	}
}

// TestBestFlags: --best and --patience set what they need, in plan and simulate alike.
func TestBestFlags(t *testing.T) {
	text, err := zofl(t, "plan", "--dim", "10", "--best", "f1", "--patience", "7", "--json")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"best":"f1"`, `"patience":7`, `"metrics":["f1"]`, `"eval_every":10`,
		`"eval_count":10`} {
		if !strings.Contains(strings.ReplaceAll(text, `": `, `":`), want) {
			t.Errorf("the plan has no %s: %s", want, text)
		}
	}
	file := filepath.Join(t.TempDir(), "plan.json")
	if _, err := zofl(t, "plan", "--dim", "500", "--set", "rounds=60", "--write", file); err != nil {
		t.Fatal(err)
	}
	text, err = zofl(t, "simulate", file, "--devices", "2", "--best", "accuracy", "--patience", "2",
		"--json")
	if err != nil || !strings.Contains(text, `"best":{"metric":"accuracy"`) {
		t.Errorf("%v, simulate says %s", err, text[max(0, len(text)-600):])
	}
	_, err = zofl(t, "serve", "--store", t.TempDir(), "--patience", "3")
	if err == nil || !strings.Contains(err.Error(), "zofl change") {
		t.Errorf("serve without a plan: %v", err)
	}
}
