package soak

import (
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"
)

var (
	soakFor  = flag.Duration("for", 8*time.Second, "how long TestSoak disturbs the fleet")
	soakSeed = flag.Uint64("seed", 1, "of the faults")
)

// patience is the time limit of what must not take long.
const patience = 4 * time.Minute

// TestSoak: whatever happens to devices, connections, coordinator and server, rounds go on,
// and all devices come to the state of the log.
func TestSoak(t *testing.T) {
	err := Run(Config{Devices: 10, For: *soakFor, Seed: *soakSeed, Line: 4 * time.Second,
		Check: 4 * time.Second, Out: os.Stderr})
	if err != nil {
		t.Errorf("seed %d: %v", *soakSeed, err)
	}
}

// TestSoakSees: a device that is away differs from the log, and without a server there are no
// rounds.
func TestSoakSees(t *testing.T) {
	s, err := newSoak(Config{Devices: 4, For: patience, Stall: patience, Out: io.Discard})
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(s.dir)
	defer s.close()
	if err := s.start(); err != nil {
		t.Fatal(err)
	}
	away := s.devices[0]
	if err := away.stop(); err != nil {
		t.Fatal(err)
	}
	if err := s.until(func() error { return s.enough(40) }); err != nil {
		t.Fatal(err)
	}
	s.cfg.Stall = time.Second
	s.check()
	sees(t, s, "check: d0 has digest")
	if err := away.start(); err != nil {
		t.Fatal(err)
	}
	s.cfg.Stall = patience
	s.check()
	if wrong := s.faults(); len(wrong) > 0 {
		t.Fatal(wrong)
	}
	s.cfg.Stall = time.Second
	s.server.stop()
	s.watch()
	sees(t, s, "stall: no round")
}

// sees checks what was seen since the last call.
func sees(t *testing.T, s *soak, what string) {
	t.Helper()
	if !strings.Contains(fmt.Sprint(s.faults()), what) {
		t.Errorf("%q is missing in %v", what, s.faults())
	}
	s.wrong = nil
}

func TestGrown(t *testing.T) {
	first := usage{goroutines: 100, files: 50, heap: 1 << 20, records: 10}
	for _, c := range []struct {
		now  usage
		want bool
	}{
		{first, false},
		{usage{goroutines: 130, files: 60, heap: 17 << 20, records: 10}, false},
		{usage{goroutines: 131, files: 50, heap: 1 << 20, records: 10}, true},
		{usage{goroutines: 100, files: 61, heap: 1 << 20, records: 10}, true},
		{usage{goroutines: 100, files: 50, heap: 18 << 20, records: 10}, true},
		{usage{goroutines: 100, files: 50, heap: 18 << 20, records: 1 << 20}, false},
	} {
		if err := c.now.grown(first, 10); (err != nil) != c.want {
			t.Errorf("%+v: %v", c.now, err)
		}
	}
}
