package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/zofl/internal/await"
)

// setBack stops serve, puts an earlier copy of the log in its place, and serves that one. This is
// what a restored backup does, and the devices go on meanwhile.
func (k *kitchen) setBack(copied string) {
	k.t.Helper()
	for _, step := range []func() error{
		k.lead.stop,
		func() error { return os.RemoveAll(k.log) },
		func() error { return os.CopyFS(k.log, os.DirFS(copied)) },
	} {
		if err := step(); err != nil {
			k.t.Fatal(err)
		}
	}
	k.lead = k.leads()
}

// paused waits until the run is paused, with no record after n.
func (k *kitchen) paused(n uint64) (reason string) {
	k.t.Helper()
	await.That(k.t, "the run is paused", func() bool {
		s, err := k.ask("status")
		if err == nil && s.N > n {
			k.t.Fatalf("the run went on to record %d, want a pause after record %d", s.N, n)
		}
		if err == nil {
			reason = s.Reason
		}
		return err == nil && s.State == "paused"
	})
	return reason
}

// A log that was set back while serve was away pauses the run, also where devices are quick to hear
// of its open round. They keep what they have until a person accepts the loss.
func TestLogSetBack(t *testing.T) {
	k := newKitchen(t)
	a, b := k.startDevice("a"), k.startDevice("b")
	k.reach(8)
	if err := k.lead.stop(); err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(k.dir, "copy")
	if err := os.CopyFS(copied, os.DirFS(k.log)); err != nil {
		t.Fatal(err)
	}
	kept := uint64(len(frames(t, copied)))
	k.lead = k.leads()
	k.reach(kept + 60)
	k.setBack(copied)

	if why := k.paused(kept); !strings.Contains(why, "has record") ||
		!strings.Contains(why, fmt.Sprintf("the log ends with record %d", kept)) {
		t.Errorf("the run is paused because %q", why)
	}
	for _, d := range []*process{a, b} {
		d.says(&d.out, `"event":"paused"`)
	}
	for range 2 { // with the devices, and without them
		if err := k.lead.stop(); err != nil {
			t.Fatal(err)
		}
		k.lead = k.leads()
		if why := k.paused(kept); !strings.Contains(why, "has record") {
			t.Errorf("after a restart the run is paused because %q", why)
		}
		a.interrupt()
		b.interrupt()
	}
	for id, d := range map[string]*process{"a": a, "b": b} {
		if code := d.interrupt(); code != 0 {
			t.Errorf("device %s: exit code %d: %s", id, code, d.stderr.String())
		}
		if h := headIn(t, k, id, "checkpoint"); h.N < kept+60 {
			t.Errorf("device %s kept record %d of %d", id, h.N, kept+60)
		}
		if strings.Contains(d.stderr.String(), "starting over") {
			t.Errorf("device %s let go of its state: %s", id, d.stderr.String())
		}
	}
	a, b = k.startDevice("a"), k.startDevice("b")
	k.paused(kept)
	if _, err := k.ask("resume"); err != nil {
		t.Fatal(err)
	}
	k.reach(kept + 5)
	for _, d := range []*process{a, b} { // the file goes as soon as the new run is longer
		d.says(&d.stderr, "keeping the model of the run before", "item=checkpoint-before")
	}
}

// A log that was set back to an operator's pause says both, and a resume of the operator's pause
// keeps what devices have.
func TestLogSetBackWhilePaused(t *testing.T) {
	k := newKitchen(t)
	k.startDevice("a")
	k.startDevice("b")
	k.reach(8)
	s, err := k.ask("pause", "--reason", "the step is wrong")
	if err != nil {
		t.Fatal(err)
	}
	kept, by := s.N, s.By
	if err := k.lead.stop(); err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(k.dir, "copy")
	if err := os.CopyFS(copied, os.DirFS(k.log)); err != nil {
		t.Fatal(err)
	}
	k.lead = k.leads()
	k.paused(kept)
	if _, err := k.ask("resume"); err != nil {
		t.Fatal(err)
	}
	k.reach(kept + 20)
	k.setBack(copied)

	await.That(t, "the status says why a resume will not do", func() bool {
		s, err := k.ask("status")
		return err == nil && s.By == by && strings.HasPrefix(s.Reason, "the step is wrong; ") &&
			strings.Contains(s.Reason, fmt.Sprintf("the log ends with record %d", kept))
	})
	if _, err := k.ask("resume"); err != nil {
		t.Fatal(err)
	}
	if why := k.paused(kept); strings.Contains(why, "step") || !strings.Contains(why, "has record") {
		t.Errorf("after the first resume the run is paused because %q", why)
	}
	if _, err := k.ask("resume"); err != nil {
		t.Fatal(err)
	}
	k.reach(kept + 5)
}

// The log was set back while no device was there, and has gone on with others since. A device that
// returns says so, though it has fewer records by now, and keeps them. Once a person has accepted
// the loss, nobody is asked again.
func TestLogSetBackAndGoneOn(t *testing.T) {
	k := newKitchen(t)
	a, b := k.startDevice("a"), k.startDevice("b")
	k.reach(8)
	if err := k.lead.stop(); err != nil {
		t.Fatal(err)
	}
	copied := filepath.Join(k.dir, "copy")
	if err := os.CopyFS(copied, os.DirFS(k.log)); err != nil {
		t.Fatal(err)
	}
	kept := uint64(len(frames(t, copied)))
	k.lead = k.leads()
	k.reach(kept + 20)
	a.interrupt()
	b.interrupt()
	lost := headIn(t, k, "a", "checkpoint")
	k.setBack(copied)
	if err := os.RemoveAll(filepath.Join(k.dir, "b")); err != nil {
		t.Fatal(err)
	}
	b = k.startDevice("b")
	k.reach(lost.N + 10)

	a = k.startDevice("a")
	for restarts := range 2 {
		why := k.paused(1 << 40)
		if !strings.Contains(why, fmt.Sprintf("device a has another record %d than the log", lost.N)) {
			t.Errorf("after %d restarts the run is paused because %q", restarts, why)
		}
		if err := k.lead.stop(); err != nil {
			t.Fatal(err)
		}
		k.lead = k.leads()
	}
	k.paused(1 << 40)
	s, err := k.ask("status")
	if err != nil {
		t.Fatal(err)
	}
	last := s.N
	a.interrupt()
	if h := headIn(t, k, "a", "checkpoint"); h.N != lost.N || h.Hash != lost.Hash {
		t.Errorf("device a keeps record %d, want %d", h.N, lost.N)
	}
	if _, err := k.ask("resume"); err != nil {
		t.Fatal(err)
	}
	a = k.startDevice("a")
	k.reach(last + 5)
	a.says(&a.out, `"event":"waiting"`, `"loss"`)
	if err := k.lead.stop(); err != nil {
		t.Fatal(err)
	}
	k.lead = k.leads()
	k.reach(last + 20)
}

// A pause, its reason and the name of who asked for it survive the kill of the coordinator.
func TestPauseSurvives(t *testing.T) {
	k := newKitchen(t)
	k.startDevice("a")
	k.startDevice("b")
	k.reach(8)
	if err := k.lead.stop(); err != nil {
		t.Fatal(err)
	}
	args := []string{"serve", k.plan, "--store", k.log, "--listen",
		strings.TrimPrefix(k.url, "nats://")}
	lead := start(t, args...)
	k.reach(20)
	again := func() {
		if err := lead.cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		lead.exited()
		lead = start(t, args...)
	}
	s, err := k.ask("pause", "--reason", "the step is wrong")
	if err != nil {
		t.Fatal(err)
	}
	by := s.By
	if !strings.Contains(by, "@") {
		t.Errorf("paused by %q, want somebody at a machine", by)
	}
	n := s.N
	for range 2 {
		again()
		if why := k.paused(n); why != "the step is wrong" {
			t.Errorf("the run is paused because %q", why)
		}
		if s, err := k.ask("status"); err != nil || s.By != by {
			t.Errorf("paused by %q, %v, want %q", s.By, err, by)
		}
	}
	if _, err := k.ask("resume"); err != nil {
		t.Fatal(err)
	}
	again()
	s = k.reach(n + 5)
	if s, err = k.ask("pause", "--after", fmt.Sprint(s.Rounds+30)); err != nil {
		t.Fatal(err)
	}
	after := s.Rounds + 30
	again()
	k.paused(1 << 40)
	if s, err := k.ask("status"); err != nil || s.Rounds < after-30 || s.Rounds > after {
		t.Errorf("the run is paused after round %d, %v, want about %d", s.Rounds, err, after)
	}
}
