//go:build unix

package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/zofl/zofl/coordinator/zofl/internal/await"
)

// TestAttachedToKilled: serve ends when the program that started it is killed.
func TestAttachedToKilled(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	plan := filepath.Join(dir, "plan.json")
	if _, err := zofl(t, "plan", "--run", "r", "--dim", "3", "--write", plan); err != nil {
		t.Fatal(err)
	}
	// The shell starts a child that reads from the shell, and then waits for the child.
	parent := exec.Command("sh", "-c", `mkfifo "$0/in"; "$@" <"$0/in" & exec 3>"$0/in"; wait`, dir,
		self, "serve", plan, "--store", filepath.Join(dir, "log"), "--listen", "127.0.0.1:0",
		"--attached")
	parent.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	parent.Env = append(os.Environ(), asProgram+"=1")
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	parent.Stderr = w
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(-parent.Process.Pid, syscall.SIGKILL) })
	_ = w.Close()
	var stderr await.Text
	ended := make(chan struct{}) // by whoever writes there: serve, and its parent
	go func() { defer close(ended); _, _ = io.Copy(&stderr, r) }()
	(&process{t: t, args: []string{"serve"}}).says(&stderr, "leading")
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait()
	select {
	case <-ended:
	case <-time.After(patience):
		t.Fatalf("serve outlives its parent by %v: %s", patience, stderr.String())
	}
}
