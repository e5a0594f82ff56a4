package main

import (
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/zofl/broker/freeport"
	"github.com/zofl/zofl/coordinator/zofl/internal/cli"
)

// painted finds a color or a weight.
var painted = regexp.MustCompile("\x1b\\[[0-9;]*[1-9][0-9;]*m")

// TestWatch: watch shows a run on a whole terminal. It says when the coordinator does not answer,
// and goes on when it answers again. The keys p and y pause the run. The key q ends watch and
// restores the terminal.
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
	s.shows("pi-2")
	served.interrupt()
	s.shows("asking again")
	s.press("?")
	s.shows("Any key closes this help")
	start(t, serve...)
	s.until("it is back", func(shown string) bool { return !strings.Contains(shown, "asking again") })
	s.press("xpy")
	s.shows("pause: done")
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
	dumb.shows("zofl status")
	code, _, text := runs(t, args...)
	if code != cli.ExitUsage || !strings.Contains(text, "zofl status") ||
		!strings.Contains(text, "zofl history --json") {
		t.Errorf("exit code %d: %s", code, text)
	}
}
