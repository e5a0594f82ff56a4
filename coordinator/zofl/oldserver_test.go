package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/zofl/zofl/coordinator/zofl/broker/freeport"
	"github.com/zofl/zofl/coordinator/zofl/internal/await"
)

// oldServer starts a nats-server of an earlier version, with a JetStream, and returns its URL. The
// first call builds the server, which needs a module proxy.
func oldServer(t *testing.T, version string) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(cache, "zofl", "nats-server-"+version)
	program := filepath.Join(dir, "nats-server")
	if _, err := os.Stat(program); err != nil {
		build := exec.Command("go", "install", "github.com/nats-io/nats-server/v2@"+version)
		build.Env = append(os.Environ(), "GOBIN="+dir, "GOFLAGS=", "CGO_ENABLED=0")
		if said, err := build.CombinedOutput(); err != nil {
			t.Skipf("nats-server %s cannot be built here: %v\n%s", version, err, said)
		}
	}
	port := freeport.Take(t, 1)[0]
	cmd := exec.Command(program, "-a", "127.0.0.1", "-p", fmt.Sprint(port), "-js", "-sd", t.TempDir())
	var said await.Text
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	if !said.Says("Server is ready") {
		t.Fatalf("the server is not ready in %v: %s", patience, said.String())
	}
	return fmt.Sprint("nats://127.0.0.1:", port)
}

// TestOldServers: a run whose log is in the JetStream of a server before 2.11, which sends no
// batches of messages, goes on after a restart as it does with a new one.
func TestOldServers(t *testing.T) {
	if testing.Short() {
		t.Skip("builds two servers")
	}
	for _, version := range []string{"v2.9.10", "v2.10.22"} {
		t.Run(version, func(t *testing.T) {
			url, plan := oldServer(t, version), kitchenPlan(t, "--set", "rounds=200")
			serve := func(more ...string) *process {
				p := start(t, append([]string{"serve", plan, "--jetstream", "--allow-unsynced", "--lease",
					"1s", "--url", url}, more...)...)
				p.says(&p.stderr, "leading")
				return p
			}
			device := func(id string) {
				t.Helper()
				code, _, said := runs(t, "client", "--url", url, "--run", "kitchen", "--id", id,
					"--objective", "bowl", "--dim", "10", "--quiet")
				if code != 0 {
					t.Errorf("device %s: exit code %d: %s", id, code, said)
				}
			}
			p := serve()
			device("first")
			if err := p.cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			<-p.done
			began := time.Now()
			serve()
			if took := time.Since(began); took > soon {
				t.Errorf("serve read 202 records in %v", took)
			}
			device("late")
		})
	}
}
