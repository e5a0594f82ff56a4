package main

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// TestNoTerminalObeysARun: texts from a run's messages or log cannot control the terminals of
// devices, operators and readers of the log.
func TestNoTerminalObeysARun(t *testing.T) {
	t.Parallel()
	const said = "back\x1b]0;owned\a\x1b[2J\r\u009b31m\u202esoon"
	const shown = "back]0;owned[2J 31msoon"
	k := newKitchen(t)
	k.device("a")
	b := background(t, "client", "--url", k.url, "--run", "kitchen", "--id", "b", "--objective",
		"bowl", "--dim", fmt.Sprint(kitchenDim), "--store", filepath.Join(k.dir, "b"))
	k.reach(3)
	ask := []string{"--url", k.url, "--run", "kitchen"}
	reason := append([]string{"--reason", said}, ask...)
	paused, err := zofl(t, append([]string{"pause"}, reason...)...)
	if err != nil {
		t.Fatal(err)
	}
	waitFor(t, b, "paused: ")
	status, err := zofl(t, append([]string{"status"}, ask...)...)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := zofl(t, append([]string{"stop"}, reason...)...); err != nil {
		t.Fatal(err)
	}
	waitFor(t, b, "ended")
	if err := k.lead.stop(); err != nil {
		t.Fatal(err)
	}
	read := func(command string) string {
		out, err := zofl(t, command, "--store", k.log)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	for what, text := range map[string]string{"pause": paused, "status": status,
		"client": b.out.String(), "log": read("log"), "history": read("history")} {
		if i := strings.IndexAny(text, "\x1b\a\r\u009b\u202e"); i >= 0 || !strings.Contains(text, shown) {
			t.Errorf("zofl %s prints %q", what, text)
		}
		if strings.Contains(text, "<nil>") {
			t.Errorf("zofl %s prints nothing as <nil>: %s", what, text)
		}
	}
}

// TestDeviceIsNoOperator: the command of a device to the run fails, and the error says which user
// may send commands. The run does not change.
func TestDeviceIsNoOperator(t *testing.T) {
	t.Parallel()
	k := newEnrolled(t)
	device, operator := k.add("pi", "device"), k.add("alice", "operator")
	_, err := zofl(t, append([]string{"stop"}, device...)...)
	refused(t, err, []string{"does not let this user command", "kitchen", "--role operator"})
	out, err := zofl(t, append([]string{"status"}, operator...)...)
	if state := cell(out, "state"); err != nil || strings.HasPrefix(state, "ended") {
		t.Errorf("the run is %s, %v", state, err)
	}
}
