package main

import (
	"path/filepath"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// TestStreamsGone: where somebody deletes the streams of a run, neither the coordinator that leads
// nor the one that stands by waits for them to come back.
func TestStreamsGone(t *testing.T) {
	url, system := syncing(t, true)
	plan := filepath.Join(t.TempDir(), "plan.json")
	if _, err := zofl(t, "plan", "--run", "kitchen", "--dim", "3", "--write", plan); err != nil {
		t.Fatal(err)
	}
	serve := func() *process {
		return start(t, "serve", plan, "--jetstream", "--url", url, "--system-url", system, "--lease",
			"1s")
	}
	lead := serve()
	lead.says(&lead.stderr, "leading")
	standby := serve()
	standby.says(&standby.stderr, "standing by", "another coordinator leads")
	nc, err := nats.Connect(url)
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"ZO_kitchen_LOG", "ZO_kitchen_MEMBERS", "KV_ZO_kitchen_LEASE",
		"KV_ZO_kitchen_EPOCH"} {
		if err := js.DeleteStream(t.Context(), name); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range []*process{lead, standby} {
		if code := p.exited(); code != 4 || lines(p.stderr.String(), "does not exist any more") == 0 {
			t.Errorf("exit code %d: %s", code, p.stderr.String())
		}
	}
}
