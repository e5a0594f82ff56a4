package day

import (
	"fmt"
	"os"
	"runtime/debug"
	"testing"
	"testing/synctest"
)

// Run simulates a day. It fails the test if cfg is unusable.
func Run(t *testing.T, cfg Config) *History {
	t.Helper()
	h, err := Simulate(t, cfg)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// Simulate simulates a day. The error says why cfg is unusable. A program gets t from [Main].
func Simulate(t *testing.T, cfg Config) (h *History, err error) {
	if cfg, err = cfg.withDefaults(); err != nil {
		return nil, err
	}
	task, err := newTask(cfg.Seed, cfg.Devices, cfg.Fleet.Biased)
	if err != nil {
		return nil, err
	}
	defer task.close()
	synctest.Test(t, func(*testing.T) {
		var w *world
		if w, err = newWorld(cfg, task); err == nil {
			h = w.run()
		}
	})
	return h, err
}

// Main is the body of a program that simulates days. testing/synctest wants a test, so Main runs
// one. Main calls run with the program's arguments, prints the error, and exits.
func Main(run func(t *testing.T, args []string) error) {
	debug.SetGCPercent(400) // a day of 500 phones then takes 150 MB
	args := os.Args[1:]
	os.Args = os.Args[:1] // the test's flags are not the program's flags
	all := func(string, string) (bool, error) { return true, nil }
	test := func(t *testing.T) {
		if err := run(t, args); err != nil {
			fmt.Fprintf(os.Stderr, "%v\n", err)
			os.Exit(1)
		}
		os.Exit(0) // before the test says that it passed
	}
	testing.Main(all, []testing.InternalTest{{Name: "Main", F: test}}, nil, nil)
}
