package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/zofl/zofl/coordinator/zofl/broker/freeport"
)

// TestWaitingForDevices: serve and status say what round 1 waits for, and the command that they
// name starts it as it is typed.
func TestWaitingForDevices(t *testing.T) {
	k := newKitchenOf(t, []string{"--set", "members=3", "--set", "target=3", "--set",
		"quorum=2", "--set", "deadline=3600000"})
	k.device("a")
	waitFor(t, k.lead, `"event":"joined"`)
	const text = "1 of 3 joined; `zofl change members=1 quorum=1` starts now"
	s := k.reach(1)
	for s.Waits != text {
		if s.State != "waiting" {
			t.Fatalf("status %+v", s)
		}
		s = k.reach(1)
	}
	waitFor(t, k.lead, `"event":"waiting","n":1,"round":0,"waits":"`+text+`"}`)
	out, err := zofl(t, "status", "--url", k.url, "--run", "kitchen")
	if err != nil || cell(out, "waits for devices") != text {
		t.Errorf("status %v:\n%s", err, out)
	}
	if _, err = k.ask("change", "members=1", "quorum=1"); err != nil {
		t.Fatal(err)
	}
	if s = k.reach(5); s.Waits != "" {
		t.Errorf("round %d has begun, and devices are awaited: %+v", s.Rounds, s)
	}
}

// TestDeviceWaits: a device says for how many devices the run waits, and not that no coordinator
// answers.
func TestDeviceWaits(t *testing.T) {
	k := newKitchenOf(t, []string{"--set", "members=10"})
	waitFor(t, k.lead, `"event":"waiting"`)
	d := start(t, "client", "--url", k.url, "--run", "kitchen", "--id", "a", "--objective", "bowl",
		"--dim", fmt.Sprint(kitchenDim))
	d.says(&d.out, "waiting: at least 1 of 10 devices have joined, and round 1 waits for all")
	d.interrupt()
	if said := d.stderr.String(); strings.Contains(said, "coordinator") {
		t.Errorf("it speaks of a coordinator that is there:\n%s", said)
	}
}

// TestWaitingForAQuorum: a run that lacks devices says how many, and which change lets it go on
// without them.
func TestWaitingForAQuorum(t *testing.T) {
	k := newKitchenOf(t, []string{"--set", "quorum=2", "--set", "max_attempts=1"})
	k.device("a")
	b := k.device("b")
	k.reach(4)
	if err := b.stop(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, k.lead, `"event":"paused"`)
	const text = "1 of 2 members present, quorum 2: it goes on when they are back; " +
		"`zofl change quorum=1` goes on now"
	s := k.reach(4)
	for began := time.Now(); s.Waits != text; s = k.reach(4) {
		if time.Since(began) > patience {
			t.Fatalf("status %+v", s)
		}
	}
	if _, err := k.ask("change", "quorum=1"); err != nil {
		t.Fatal(err)
	}
	k.reach(s.N + 5)
	k.device("b")
	waitFor(t, k.lead, `"event":"returned"`)
}

// TestWaitingInWords: the lines of a serve without --json.
func TestWaitingInWords(t *testing.T) {
	dir := t.TempDir()
	plan, address := filepath.Join(dir, "plan.json"), freeport.Address(t)
	if _, err := zofl(t, "plan", "--preset", "zofl", "--run", "kitchen",
		"--dim", "3", "--set", "members=2", "--set",
		"target=2", "--set", "quorum=2", "--write", plan); err != nil {
		t.Fatal(err)
	}
	p := start(t, "serve", plan, "--store", filepath.Join(dir, "log"), "--listen", address)
	p.says(&p.stderr, "waiting for devices: 0 of 2 joined")
	start(t, "client", "--url", "nats://"+address, "--run", "kitchen", "--id", "pi-1", "--objective",
		"bowl", "--dim", "3")
	p.says(&p.stderr, "msg=joined", "id=pi-1", "members=1")
	p.says(&p.stderr,
		"1 of 2 joined; `zofl change members=1 quorum=1` starts now")
	if strings.Contains(p.stderr.String(), "msg=round") {
		t.Errorf("round 1 did not wait:\n%s", p.stderr.String())
	}
	if code := p.interrupt(); code != 0 {
		t.Errorf("exit code %d", code)
	}
}

// TestRoundsThatEndTheRun: a change to fewer rounds than are done would end the run for good. It is
// refused, with the command that does so.
func TestRoundsThatEndTheRun(t *testing.T) {
	k := newKitchenOf(t, []string{"--set", "quorum=1"})
	k.device("a")
	k.device("b")
	k.reach(6)
	_, err := k.ask("change", "rounds=1")
	if err == nil || !strings.Contains(err.Error(), "ends the run") ||
		!strings.Contains(err.Error(), "`zofl change --yes rounds=1`") {
		t.Errorf("got %v, want a refusal that says what to do", err)
	}
	s := k.reach(8)
	if s.End != "" {
		t.Fatalf("the run has ended: %+v", s)
	}
	if _, err := k.ask("change", "rounds=1000000"); err != nil {
		t.Errorf("more rounds: %v", err)
	}
	if _, err := k.ask("change", "--yes", "rounds=1"); err != nil {
		t.Fatal(err)
	}
	waitFor(t, k.lead, `"event":"ended"`)
}

// TestChangeMuToAuto: the devices of a run that began with a number for mu find another, as
// docs/faq.md advises, and again.
func TestChangeMuToAuto(t *testing.T) {
	k := newKitchenOf(t, []string{"--set", "mu=0.01", "--set", "quorum=2"})
	k.device("a")
	k.device("b")
	k.reach(4)
	if _, err := k.ask("change", "mu=auto"); err != nil {
		t.Fatal(err)
	}
	waitFor(t, k.lead, `"event":"survey"`)
	s := k.reach(1)
	k.reach(s.N + 5)
	if _, err := k.ask("change", "mu=auto"); err != nil {
		t.Errorf("again: %v", err)
	}
	s = k.reach(1)
	k.reach(s.N + 3)
}
