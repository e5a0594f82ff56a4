//go:build linux && !race

package libzofl

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/zofl/zofl/coordinator/zofl/broker/freeport"
)

// TestEnrolled: a device joins over TLS with the line of `zofl device add --qr`, another with the
// file of `zofl device add`. Both know the authority and the coordinator's key by that alone, and a
// device without credentials is not let in.
func TestEnrolled(t *testing.T) {
	program := compiled(t, "testdata/enrolled.c", library(t)+"/libzofl.so")
	dir := t.TempDir()
	zofl := filepath.Join(dir, "zofl")
	run(t, "go", "-C", "../../coordinator/zofl", "build", "-o", zofl, ".")
	plan, auth := filepath.Join(dir, "plan.json"), filepath.Join(dir, "auth")
	run(t, zofl, "plan", "--run", "shed", "--dim", "4", "--set", "rounds=10", "--set", "members=2",
		"--write", plan)
	address := freeport.Address(t)
	server := exec.Command(zofl, "serve", plan, "--store", filepath.Join(dir, "log"), "--tls",
		"--auth", auth, "--listen", address)
	var said bytes.Buffer
	server.Stderr = &said
	if err := server.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		server.Process.Signal(os.Interrupt)
		server.Wait()
		if t.Failed() {
			t.Logf("%s", said.Bytes())
		}
	})
	code := added(t, zofl, "device", "add", "line-1", "--auth", auth, "--qr")
	_, line, _ := strings.Cut(code, "zofl:?") // below the picture
	line = "zofl:?" + strings.TrimSpace(line)
	file := filepath.Join(dir, "file-1.creds")
	added(t, zofl, "device", "add", "file-1", "--auth", auth, "--out", file)
	out := make(chan string, 2)
	go func() { out <- run(t, program, "enroll", line) }()
	go func() { out <- run(t, program, "creds", file, "tls://"+address) }()
	digests := map[string]bool{}
	for range 2 {
		var n uint64
		var digest string
		got := <-out
		if _, err := fmt.Sscanf(got, "record %d digest %s", &n, &digest); err != nil || n < 12 {
			t.Errorf("a device printed %q, %v", got, err)
		}
		digests[digest] = true
	}
	if len(digests) != 1 {
		t.Errorf("digests %v, want one", digests)
	}
	got := run(t, program, "stranger", "", "tls://"+address)
	if !strings.Contains(got, "certificate") {
		t.Errorf("a stranger is told %q, want that it does not trust the server", got)
	}
}

// added runs a command until the server has made its folder of users.
func added(t *testing.T, name string, args ...string) string {
	t.Helper()
	for end := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
		out, err := exec.Command(name, args...).Output()
		if err == nil {
			return string(out)
		}
		if time.Now().After(end) {
			t.Fatalf("%q: %v", args, err)
		}
	}
}
