package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/creack/pty"
	"golang.org/x/term"

	"github.com/zofl/zofl/coordinator/zofl/broker/freeport"
	"github.com/zofl/zofl/coordinator/zofl/internal/await"
	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
)

// A screen is a program on a terminal of 80 by 24.
type screen struct {
	t        *testing.T
	ptm, tty *os.File
	cmd      *exec.Cmd
	text     await.Text    // what it has written
	closed   chan struct{} // nobody has the terminal open
}

// onScreen runs the program, whose input and output are the terminal.
func onScreen(t *testing.T, environment []string, args ...string) *screen {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := &screen{t: t, closed: make(chan struct{})}
	if s.ptm, s.tty, err = pty.Open(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = s.tty.Close(), s.ptm.Close() })
	if err := pty.Setsize(s.tty, &pty.Winsize{Rows: 24, Cols: 80}); err != nil {
		t.Fatal(err)
	}
	s.cmd = exec.CommandContext(t.Context(), self, args...)
	s.cmd.Env = append(append(os.Environ(), asProgram+"=1"), environment...)
	s.cmd.Stdin, s.cmd.Stdout, s.cmd.Stderr = s.tty, s.tty, s.tty
	go func() {
		_, _ = io.Copy(&s.text, s.ptm) // ends with an error when nobody has it open
		close(s.closed)
	}()
	return s
}

// until waits for a text after so many bytes, and returns how many there are then.
func (s *screen) until(from int, text string) (to int) {
	s.t.Helper()
	if !s.text.Until(func(all string) bool {
		to = len(all)
		return strings.Contains(all[min(from, to):], text)
	}) {
		s.t.Fatalf("no %q: %q", text, s.text.String())
	}
	return to
}

func (s *screen) press(keys string) {
	s.t.Helper()
	if _, err := s.ptm.WriteString(keys); err != nil {
		s.t.Fatal(err)
	}
}

// mode is that of the terminal.
func (s *screen) mode() *term.State {
	s.t.Helper()
	state, err := term.GetState(int(s.tty.Fd()))
	if err != nil {
		s.t.Fatal(err)
	}
	return state
}

// painted finds a color or a weight.
var painted = regexp.MustCompile("\x1b\\[[0-9;]*[1-9][0-9;]*m")

// TestWatch: watch shows a run on a whole terminal, says when its coordinator is away and goes on
// when it is back; p and y pause the run; q ends watch, and the terminal is as it was.
func TestWatch(t *testing.T) {
	t.Parallel()
	address := freeport.Address(t)
	url := "nats://" + address
	serve := []string{"serve", planFile(t, "--run", "kitchen", "--dim", "5", "--set", "members=2",
		"--set", "target=2", "--set", "quorum=2"), "--store", filepath.Join(t.TempDir(), "log"),
		"--listen", address}
	served := start(t, serve...)
	served.says(&served.stderr, "leading")
	for _, id := range []string{"pi-1", "pi-2"} {
		start(t, "client", "--url", url, "--run", "kitchen", "--objective", "bowl", "--dim", "5", "--id",
			id, "--delay", "5ms")
	}
	s := onScreen(t, []string{"TERM=xterm-256color", "NO_COLOR=1"}, "watch", "--url", url, "--run",
		"kitchen")
	before := s.mode()
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	s.until(0, "pi-2")
	served.interrupt()
	s.until(0, "asking again")
	s.press("?")
	away := s.until(0, "Any key closes this help")
	start(t, serve...)
	s.until(away, "round ") // in the header: it is back
	s.press("xpy")
	s.until(away, "pause: done")
	out, err := zofl(t, "status", "--url", url, "--run", "kitchen", "--json")
	if err != nil || !strings.Contains(out, `"state":"paused"`) {
		t.Errorf("status after p and y: %v: %s", err, out)
	}
	s.press("q")
	if err := s.cmd.Wait(); err != nil {
		t.Errorf("watch: %v", err)
	}
	if *s.mode() != *before {
		t.Error("the terminal is in another mode than before")
	}
	s.tty.Close()
	<-s.closed
	text := s.text.String()
	for _, c := range [][2]string{{"\x1b[?1049h", "\x1b[?1049l"}, {"\x1b[?25l", "\x1b[?25h"}} {
		on, off := strings.LastIndex(text, c[0]), strings.LastIndex(text, c[1])
		if on < 0 || off < on {
			t.Errorf("%q is not taken back by %q", c[0], c[1])
		}
	}
	if colors := painted.FindString(text); colors != "" {
		t.Errorf("NO_COLOR is set, and the screen has %q", colors)
	}
}

// TestWatchNeedsATerminal: without a terminal, or on a dumb one, watch names what to use instead.
func TestWatchNeedsATerminal(t *testing.T) {
	t.Parallel()
	args := []string{"watch", "--url", "nats://127.0.0.1:1", "--run", "kitchen"}
	dumb := onScreen(t, []string{"TERM=dumb"}, args...)
	if err := dumb.cmd.Run(); err == nil {
		t.Error("watch runs on a dumb terminal")
	}
	dumb.until(0, "zofl status")
	code, _, text := runs(t, args...)
	if code != cli.ExitUsage || !strings.Contains(text, "zofl status") ||
		!strings.Contains(text, "zofl history --json") {
		t.Errorf("exit code %d: %s", code, text)
	}
}
