package main

import (
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/zofl/version"
)

// TestVersion: the program says which version it is, and so do plans and the status of a run.
func TestVersion(t *testing.T) {
	now := version.String()
	if out, err := zofl(t, "--version"); err != nil || out != "zofl version "+now+"\n" {
		t.Errorf("--version prints %q, %v", out, err)
	}
	if out, err := zofl(t, "plan", "--dim", "7", "--explain"); err != nil ||
		!strings.HasSuffix(out, "\nzofl "+now+"\n") {
		t.Errorf("no version %s in %s, %v", now, out, err)
	}
	out, err := zofl(t, "plan", "--dim", "7", "--json")
	if err != nil {
		t.Fatal(err)
	}
	var planned struct{ Version string }
	decode(t, out, &planned)
	k := newKitchen(t)
	status := k.reach(1)
	if planned.Version != now || status.Version != now {
		t.Errorf("versions %q of a plan, %q of a run, want %q", planned.Version, status.Version, now)
	}
	out, err = zofl(t, "status", "--url", k.url, "--run", "kitchen")
	if err != nil || !strings.Contains(out, "│ zofl "+now+" ") {
		t.Errorf("no version in %s, %v", out, err)
	}
}
