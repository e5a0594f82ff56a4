package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// A native is `zofl client`, run by the operating system.
type native struct {
	out, stderr buffer
	ended       chan error
}

// zofl compiles the program once.
var zofl = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "zofl-browser-test-")
	if err != nil {
		return "", err
	}
	file := filepath.Join(dir, "zofl")
	out, err := exec.Command("go", "-C", "../../coordinator/zofl", "build", "-o", file, ".").
		CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return file, nil
})

func TestMain(m *testing.M) {
	code := m.Run()
	if os.Getenv("ZOFL_CHROMIUM") != "" { // else nothing asked for it
		if file, err := zofl(); err == nil {
			_ = os.RemoveAll(filepath.Dir(file))
		}
	}
	os.Exit(code)
}

func startNative(t *testing.T, s *site, id string) *native {
	t.Helper()
	file, err := zofl()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(file, "client", "--url", s.nats, "--run", s.run, "--id", id, "--json")
	n := &native{ended: make(chan error, 1)}
	cmd.Stdout, cmd.Stderr = &n.out, &n.stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { n.ended <- cmd.Wait(); close(done) }()
	t.Cleanup(func() { _ = cmd.Process.Kill(); <-done })
	return n
}

// contributed waits until the device has sent a loss.
func (n *native) contributed(t *testing.T) {
	t.Helper()
	for began := time.Now(); !strings.Contains(n.out.String(), `"loss":`); {
		if time.Since(began) > patience {
			t.Fatalf("no contribution: %s%s", n.out.String(), n.stderr.String())
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// digest waits for the end, and returns what the device then had, as "record digest".
func (n *native) digest(t *testing.T) string {
	t.Helper()
	select {
	case err := <-n.ended:
		if err != nil {
			t.Fatalf("%v: %s", err, n.stderr.String())
		}
	case <-time.After(patience):
		t.Fatalf("zofl client does not end: %s", n.stderr.String())
	}
	lines := strings.Split(strings.TrimSpace(n.out.String()), "\n")
	var last struct {
		Event, Digest string
		N             uint64
	}
	if err := json.Unmarshal([]byte(lines[len(lines)-1]), &last); err != nil ||
		last.Event != "stopped" {
		t.Fatalf("%v in %q", err, lines[len(lines)-1])
	}
	return fmt.Sprint(last.N, " ", last.Digest)
}
