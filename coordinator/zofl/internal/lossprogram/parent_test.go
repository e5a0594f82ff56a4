//go:build unix

package lossprogram

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/zofl/zofl/coordinator/zofl/internal/await"
)

// soon is the longest time that a test of this file waits for what takes milliseconds.
const soon = 10 * time.Second

// If zofl is killed while its program computes, the program and its children end.
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
		t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
		await.Within(t, soon, "the program computes", func() bool {
			return strings.Contains(said.String(), "hanging")
		})
		raw, err := os.ReadFile(pids)
		if err != nil {
			t.Fatal(err)
		}
		var pid, child int
		if _, err := fmt.Sscan(string(raw), &pid, &child); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if t.Failed() {
				_ = syscall.Kill(-pid, syscall.SIGKILL)
			}
		})
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		await.Within(t, soon, "the program and its child end", func() bool {
			return await.Ended(pid) && await.Ended(child)
		})
	}
}

// The program holds the lock, so the lock stays taken if the process that started the program is
// killed.
func TestProgramHoldsTheLock(t *testing.T) {
	cfg, _ := config(t, "well")
	cfg.Lock = filepath.Join(t.TempDir(), "lock")
	p, err := Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	other, err := os.Open(cfg.Lock)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if err := p.lock.Close(); err != nil { // as the end of this process would
		t.Fatal(err)
	}
	if hold(other) == nil {
		t.Error("the lock is free while the program runs")
	}
	p.Close()
	if err := hold(other); err != nil {
		t.Errorf("the program has ended, and the lock is taken: %v", err)
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
	begun := make(chan error, 1)
	go func() {
		p, err := Start(t.Context(), cfg)
		if err == nil {
			p.Close()
		}
		begun <- err
	}()
	await.Within(t, soon, "Start logs that it waits", func() bool {
		return strings.Contains(log.String(),
			"waiting until the program of another zofl exec of this device has ended")
	})
	select {
	case err := <-begun:
		t.Fatalf("it did not wait: %v", err)
	case <-time.After(3 * lockEvery):
	}
	holder.Close()
	select {
	case err := <-begun:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(soon):
		t.Fatalf("the lock is free, and Start waits: %s", log)
	}
	if _, err := os.Stat(lock); err == nil {
		t.Error("the lock is left")
	}
}
