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
	if err := k.lead.stop(); err != nil { // the pause is gone, and devices ask for it again
		t.Fatal(err)
	}
	k.lead = k.leads()
	k.paused(kept)
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
