package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// serve and verify refuse a log whose file handover is damaged, and say what to do. Without the
// file the run goes on.
func TestDamagedHandover(t *testing.T) {
	k, last := trained(t, 12)
	path := filepath.Join(k.log, "handover")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[last%2*512+60] ^= 1
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	said := []string{"handover", "remove the file"}
	refuses(t, said, "verify", "--store", k.log)
	refuses(t, said, "serve", k.plan, "--store", k.log, "--listen",
		strings.TrimPrefix(k.url, "nats://"))
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if out, err := zofl(t, "verify", "--store", k.log); err != nil {
		t.Errorf("without the file: %v %s", err, out)
	}
	k.lead = k.leads()
	k.device("a")
	k.device("b")
	k.reach(last + 1)
}
