//go:build unix

package lossprogram

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/zofl/zofl/coordinator/zofl/internal/await"
)

// If zofl is killed while its program computes, the program and its children end. Another zofl with
// the same lock waits for that end.
func TestEndsWithItsParent(t *testing.T) {
	dir := t.TempDir()
	once, pids := filepath.Join(dir, "once"), filepath.Join(dir, "pids")
	lock := filepath.Join(dir, "lock")
	for range 3 {
		if err := os.WriteFile(once, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		var said await.Text
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), asProgram+"=parent", "ZOFL_TEST_CHILD=hangs",
			"ZOFL_TEST_LOCK="+lock, "ZOFL_TEST_ONCE="+once, "ZOFL_TEST_PIDS="+pids)
		cmd.Stdout, cmd.Stderr = &said, &said
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		if !said.Says("hanging") {
			t.Fatal(said.String())
		}
		raw, err := os.ReadFile(pids)
		if err != nil {
			t.Fatal(err)
		}
		var pid, child int
		if _, err := fmt.Sscan(string(raw), &pid, &child); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		await.That(t, "the program and its child end", func() bool {
			return await.Ended(pid) && await.Ended(child)
		})
		_ = cmd.Wait()
	}
}

// Start waits while another program holds the lock, and logs that.
func TestWaitsForAnotherProgram(t *testing.T) {
	lock := filepath.Join(t.TempDir(), "lock")
	holder, err := lockOf(t.Context(), lock, func() { t.Error("the lock is free, and it waits") })
	if err != nil {
		t.Fatal(err)
	}
	cfg, log := config(t, "well")
	cfg.Lock = lock
	begun := make(chan error)
	go func() {
		p, err := Start(t.Context(), cfg)
		if err == nil {
			p.Close()
		}
		begun <- err
	}()
	says(t, log, "waiting until the program of another zofl exec of this device has ended")
	select {
	case err := <-begun:
		t.Fatalf("it did not wait: %v", err)
	case <-time.After(3 * lockEvery):
	}
	holder.Close()
	if err := <-begun; err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(lock); err == nil {
		t.Error("the lock is left")
	}
}
