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

// A native is the program zofl, run by the operating system.
type native struct {
	args        []string
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

// startZofl starts the program, and kills the program when the test ends.
func startZofl(t *testing.T, args ...string) *native {
	t.Helper()
	file, err := zofl()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(file, args...)
	n := &native{args: args, ended: make(chan error, 1)}
	cmd.Stdout, cmd.Stderr = &n.out, &n.stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { n.ended <- cmd.Wait(); close(done) }()
	t.Cleanup(func() { _ = cmd.Process.Kill(); <-done })
	return n
}

// end waits for the end, and returns the last line on standard output.
func (n *native) end(t *testing.T) string {
	t.Helper()
	select {
	case err := <-n.ended:
		if err != nil {
			t.Fatalf("zofl %v: %v: %s", n.args, err, n.stderr.String())
		}
	case <-time.After(patience):
		t.Fatalf("zofl %v does not end: %s", n.args, n.stderr.String())
	}
	lines := strings.Split(strings.TrimSpace(n.out.String()), "\n")
	return lines[len(lines)-1]
}

// digest waits for the end of a device, and returns what it then had, as "record digest".
func (n *native) digest(t *testing.T) string {
	t.Helper()
	var last struct {
		Event, Digest string
		N             uint64
	}
	line := n.end(t)
	if err := json.Unmarshal([]byte(line), &last); err != nil || last.Event != "stopped" {
		t.Fatalf("%v in %q", err, line)
	}
	return fmt.Sprint(last.N, " ", last.Digest)
}
