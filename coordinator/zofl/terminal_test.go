package main

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/creack/pty"

	"github.com/zofl/zofl/coordinator/zofl/broker/freeport"
)

// onTerminal runs the program with a terminal as its error output, and returns what it wrote there.
func onTerminal(t *testing.T, args ...string) (written <-chan string) {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	screen, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer tty.Close()
	if err := pty.Setsize(tty, &pty.Winsize{Rows: 24, Cols: 72}); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), self, args...)
	cmd.Env = append(os.Environ(), asProgram+"=1", "TERM=xterm")
	cmd.Stderr = tty
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	all := make(chan string, 1)
	go func() {
		var b bytes.Buffer
		_, _ = io.Copy(&b, screen) // ends with an error when nobody has the terminal open
		_ = cmd.Wait()
		_ = screen.Close()
		all <- b.String()
	}()
	return all
}

// TestOnATerminal: serve and client show a live line with how the run goes, cut to
// the width of the terminal, below their log lines; a quiet one shows nothing.
func TestOnATerminal(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	plan := planFile(t, "--run", "kitchen", "--dim", "5", "--set", "rounds=40", "--set", "members=2",
		"--set", "target=2", "--set", "quorum=2")
	address := freeport.Address(t)
	served := onTerminal(t, "serve", plan, "--store", filepath.Join(dir, "log"), "--listen", address,
		"--linger", "2s")
	device := []string{"client", "--url", "nats://" + address, "--run", "kitchen", "--objective",
		"bowl", "--dim", "5", "--id"}
	shown := onTerminal(t, append(device, "pi-1")...)
	quiet := onTerminal(t, append(device, "pi-2", "--quiet")...)
	const clear = "\r\x1b[K"
	if text := <-quiet; strings.Contains(text, clear) {
		t.Errorf("a quiet device shows %q", text)
	}
	if text := <-shown; !strings.Contains(text, clear+"record ") ||
		!strings.Contains(text, " losses") {
		t.Errorf("a device shows %q", text)
	}
	text := <-served
	if !strings.Contains(text, clear+"round ") || !strings.Contains(text, " of 40") ||
		!strings.Contains(text, "   2 of 2 devices") || !strings.Contains(text, clear+"time=") {
		t.Errorf("serve shows %q", text)
	}
	for line := range strings.Lines(strings.ReplaceAll(text, clear, "\n")) {
		if strings.HasPrefix(line, "round ") && len([]rune(strings.TrimSpace(line))) > 72 {
			t.Errorf("a live line is too long: %q", line)
		}
	}
}
