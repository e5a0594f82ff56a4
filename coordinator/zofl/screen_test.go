package main

import (
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/charmbracelet/x/vt"
	"github.com/creack/pty"
	"golang.org/x/term"

	"github.com/zofl/zofl/coordinator/zofl/internal/await"
)

// A screen is a program on a terminal of 80 by 24.
type screen struct {
	t        *testing.T
	ptm, tty *os.File
	cmd      *exec.Cmd
	text     await.Text    // what it has written
	closed   chan struct{} // nobody has the terminal open

	// What a user sees, of which a program draws only what changes. It is the test's goroutine's.
	shown *vt.Emulator
	drawn int // the bytes of text that shown has
}

// onScreen runs the program, whose input and output are the terminal.
func onScreen(t *testing.T, environment []string, args ...string) *screen {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	s := &screen{t: t, shown: vt.NewEmulator(80, 24), closed: make(chan struct{})}
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
	s.deaf()
	go func() {
		_, _ = io.Copy(&s.text, s.ptm) // ends with an error when nobody has it open
		close(s.closed)
	}()
	return s
}

// deaf drops what the terminal would answer to a program's questions.
func (s *screen) deaf() {
	go func() { _, _ = io.Copy(io.Discard, s.shown) }()
	s.t.Cleanup(func() { _ = s.shown.InputPipe().(io.Closer).Close() })
}

// until waits until something holds of what the screen shows, as in "it is back".
func (s *screen) until(what string, holds func(shown string) bool) {
	s.t.Helper()
	if !s.text.Until(func(all string) bool {
		_, _ = s.shown.WriteString(all[s.drawn:])
		s.drawn = len(all)
		return holds(s.shown.String())
	}) {
		s.t.Fatalf("%s: not in %v; the screen shows\n%s", what, await.Patience, s.shown.String())
	}
}

// shows waits until the screen shows a text.
func (s *screen) shows(text string) {
	s.t.Helper()
	s.until(text, func(shown string) bool { return strings.Contains(shown, text) })
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
