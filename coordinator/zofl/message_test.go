package main

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zofl/zofl/coordinator/zofl/broker"
	"github.com/zofl/zofl/coordinator/zofl/broker/freeport"
)

// newPlan writes a plan of 7 parameters.
func newPlan(t *testing.T) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "plan.json")
	if _, err := zofl(t, "plan", "--run", "kitchen", "--dim", "7", "--write", file); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestServeOnABusyPort: if the port is taken, serve names the flag, and leaves no log behind.
func TestServeOnABusyPort(t *testing.T) {
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	address, store := busy.Addr().String(), filepath.Join(t.TempDir(), "y", "log")
	_, err = zofl(t, "serve", newPlan(t), "--store", store, "--listen", address)
	if err == nil || !strings.Contains(err.Error(), "--listen "+address) ||
		!strings.Contains(err.Error(), "another address") {
		t.Errorf("a busy port: %v", err)
	}
	if _, err := os.Stat(filepath.Dir(store)); !os.IsNotExist(err) {
		t.Errorf("a busy port left %s: %v", filepath.Dir(store), err)
	}
}

// TestStoreRefuses: a place that cannot be a directory is named once, with its flag.
func TestStoreRefuses(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	serve := []string{"serve", newPlan(t), "--listen", freeport.Address(t), "--store"}
	client := []string{"client", "--run", "r", "--id", "a", "--url", "nats://127.0.0.1:1",
		"--objective", "bowl", "--dim", "1", "--store"}
	for _, c := range []struct{ store, want string }{
		{file, ": " + file + " is a file: name a directory"},
		{filepath.Join(file, "y", "z"), ": " + file + " is a file: name a directory"},
		{filepath.Join(dir, strings.Repeat("n", 1000)),
			": cannot make this directory: file name too long: name one that this user may write"},
	} {
		commands := [][]string{serve, client}
		if strings.HasPrefix(c.store, file) { // a log that is not there is another matter
			commands = append(commands, []string{"log", "--store"})
		}
		for _, args := range commands {
			_, err := zofl(t, append(args, c.store)...)
			if want := "--store " + c.store + c.want; err == nil || err.Error() != want {
				t.Errorf("%s: got %v, want %s", args[0], err, want)
			}
			refused(t, err, nil)
		}
	}
}

// TestNoSuchRun: if no coordinator answers, the error says that the name of the run may be wrong.
func TestNoSuchRun(t *testing.T) {
	address := freeport.Address(t)
	b, err := broker.Run(broker.Config{Listen: address})
	if err != nil {
		t.Fatal(err)
	}
	defer b.Shutdown()
	for _, command := range []string{"status", "devices", "log", "verify"} {
		_, err := zofl(t, command, "--url", "nats://"+address, "--run", "kitchn")
		if err == nil || !strings.Contains(err.Error(), "is \"kitchn\" the `run` of its plan?") {
			t.Errorf("%s: %v", command, err)
		}
	}
}

// TestClientOfAnotherDim: the error about a wrong dim begins with both numbers of parameters.
func TestClientOfAnotherDim(t *testing.T) {
	k := newKitchen(t)
	_, err := zofl(t, "client", "--url", k.url, "--run", "kitchen", "--id", "a",
		"--objective", "bowl", "--dim", "3")
	refused(t, err, nil)
	if want := fmt.Sprintf("the plan has %[1]d parameters, this device's model 3: give --objective "+
		"bowl --dim %[1]d, or make a plan with --dim 3", kitchenDim); err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

// TestFlagTimes: the error about a time without a unit shows a time with a unit.
func TestFlagTimes(t *testing.T) {
	_, err := zofl(t, "client", "--delay", "3")
	refused(t, err, []string{"--delay 3: give a time with its unit, such as 3s; see zofl client"})
}

func TestPlanMessages(t *testing.T) {
	for _, c := range []struct{ flag, value, want string }{
		{"--set", "step=abc", "step = abc: give auto, or a number 1e-18..1e+18"},
		{"--set", "mu=x", "mu = x: give auto, or a number 1e-18..1e+18"},
		{"--set", "mu=-1", "choose 1e-18..1e+18; or set mu=auto, and devices find it"},
		{"--set", "step=-1", "choose 1e-18..1e+18; or set step=auto server_rule=normalized, and devices"},
		{"--set", "memebrs=1", "memebrs = 1: no field has this name: did you mean members?"},
		{"--dim", "-2", "--dim -2: give a whole number, 1 or more; see zofl plan --help"},
		{"--id-length", "x", "--id-length x: give a whole number; see"},
		{"--epsilon", "x", "--epsilon x: give a number; see"},
		{"--json=x", "--fields", "--json x: give true or false; see"},
		{"--run", "my kitchen", "run = my kitchen: character ' ' is not one of A-Z a-z 0-9 - _"},
		{"--run", strings.Repeat("r", 99), "name the run with 1.."},
	} {
		_, err := zofl(t, "plan", "--dim", "7", c.flag, c.value)
		refused(t, err, []string{c.want})
		if err != nil && strings.Contains(err.Error(), "strconv") {
			t.Errorf("%v has words of Go", err)
		}
	}
}
