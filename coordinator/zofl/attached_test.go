package main

import (
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/zofl/zofl/coordinator/zofl/broker/freeport"
)

// TestAttached: with --attached, serve runs while its standard input is open. When the input ends
// at any moment, serve ends without an error, and another serve can continue its log.
func TestAttached(t *testing.T) {
	dir := t.TempDir()
	plan, log := filepath.Join(dir, "plan.json"), filepath.Join(dir, "log")
	if _, err := zofl(t, "plan", "--run", "r", "--dim", "3", "--write", plan, "--set", "members=1",
		"--set", "target=1", "--set", "quorum=1"); err != nil {
		t.Fatal(err)
	}
	address := freeport.Address(t)
	args := []string{"serve", plan, "--store", log, "--listen", address, "--attached", "--json"}
	for range 2 {
		in, out, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		p := startWith(t, in, args...)
		_ = in.Close()
		p.says(&p.stderr, "leading")
		if _, err := io.WriteString(out, "what comes is ignored\n"); err != nil {
			t.Fatal(err)
		}
		d := background(t, "client", "--url", "nats://"+address, "--run", "r", "--id", "a",
			"--objective", "bowl", "--dim", "3", "--store", filepath.Join(dir, "a"))
		p.says(&p.out, `"event":"round"`)
		if err := out.Close(); err != nil {
			t.Fatal(err)
		}
		if code := p.exited(); code != 0 || lines(p.stderr.String(), "standard input has ended") != 1 {
			t.Errorf("exit code %d: %s", code, p.stderr.String())
		}
		if err := d.stop(); err != nil {
			t.Error(err)
		}
	}
	if _, err := zofl(t, "verify", "--store", log); err != nil {
		t.Error(err)
	}
	// Empty standard input ends serve at once, before a coordinator leads.
	p := startWith(t, nil, args...)
	if code := p.exited(); code != 0 {
		t.Errorf("without standard input: exit code %d: %s", code, p.stderr.String())
	}
}
