package main

import (
	"errors"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/zofl/broker"
	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
	"github.com/zofl/zofl/coordinator/zofl/internal/verb/logs"
)

// TestMoveLog moves a run's log to a JetStream, goes on there, and moves it
// back.
func TestMoveLog(t *testing.T) {
	k := newKitchen(t)
	a := k.device("a")
	k.device("b")
	k.reach(10)
	if err := a.stop(); err != nil { // one device less: the run goes on
		t.Fatal(err)
	}
	if err := k.lead.stop(); err != nil {
		t.Fatal(err)
	}
	b, err := broker.Run(broker.Config{JetStream: t.TempDir(), Listen: k.url[len("nats://"):]})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Shutdown)
	there := []string{"--url", k.url, "--run", "kitchen", "--json"}
	run := func(args ...string) string {
		t.Helper()
		text, err := zofl(t, args...)
		if err != nil {
			t.Fatalf("%v: %v", args, err)
		}
		return text
	}
	if _, err := zofl(t, append([]string{"log", "--jetstream"}, there...)...); !errors.As(err,
		new(cli.AbsentError)) {
		t.Errorf("a JetStream without the log: %v, want that there is none", err)
	}
	var before, after logs.Verdict
	decode(t, run("verify", "--store", k.log, "--json"), &before)
	rounds := historyOf(t, "--store", k.log)
	if len(rounds.Points) == 0 {
		t.Error("the log has no history")
	}
	if _, err := zofl(t, "log", "move", "--from", k.log, "--to", "jetstream", "--url", k.url,
		"--run", "bedroom"); !errors.As(err, new(cli.UsageError)) {
		t.Errorf("moving a log to the name of another run: %v, want a usage error", err)
	}
	if _, err := zofl(t, "log", "--jetstream", "--url", k.url, "--run", "bedroom"); !errors.As(err,
		new(cli.AbsentError)) {
		t.Errorf("after that there is a log of run bedroom: %v", err)
	}
	for range 2 { // the second time there is nothing left to copy
		run(append([]string{"log", "move", "--from", k.log, "--to", "jetstream"}, there...)...)
	}
	decode(t, run(append([]string{"verify", "--jetstream"}, there...)...), &after)
	if after.Hash != before.Hash || after.Digest != before.Digest ||
		after.Records != before.Records {
		t.Errorf("moved %+v, got %+v", before, after)
	}
	there = there[:4] // without --json
	if moved := historyOf(t, append([]string{"--jetstream"}, there...)...); !reflect.DeepEqual(moved,
		rounds) {
		t.Errorf("moved the history %+v, got %+v", rounds, moved)
	}
	there = append(there, "--json")

	k.lead = background(t, "serve", "--jetstream", "--allow-unsynced", "--url", k.url, "--run",
		"kitchen")
	k.reach(before.Records + 5)
	_, err = zofl(t, append([]string{"log", "move", "--from", "jetstream", "--to",
		filepath.Join(k.dir, "led"), "--wait", "300ms"}, there...)...)
	if err == nil || !strings.Contains(err.Error(), "stop it first") {
		t.Errorf("moving the log of a run that is led: %v, want an error that says what to do", err)
	}
	if err := k.lead.stop(); err != nil {
		t.Fatal(err)
	}
	back := filepath.Join(k.dir, "back")
	run(append([]string{"log", "move", "--from", "jetstream", "--to", back}, there...)...)
	decode(t, run("verify", "--store", back, "--json"), &after)
	if after.Records < before.Records+5 || after.Epoch <= before.Epoch {
		t.Errorf("went on from %+v to %+v", before, after)
	}
	goneOn := historyOf(t, "--store", back)
	if n := len(rounds.Points); len(goneOn.Points) < n+4 ||
		!reflect.DeepEqual(goneOn.Points[:n], rounds.Points) {
		t.Errorf("the history went on from %+v to %+v", rounds, goneOn)
	}
	if _, err := zofl(t, append([]string{"log", "move", "--from", "jetstream", "--to", k.log},
		there...)...); err != nil {
		t.Errorf("moving to the log that it began as: %v", err)
	}
}
