package soak

import (
	"fmt"
	"os"
	"runtime"
	"time"

	"github.com/zofl/zofl/client/replica"
	"github.com/zofl/zofl/coordinator/report"
)

// Limits of the growth of resources from the first check to a later check.
const (
	moreGoroutines = 20       // besides one goroutine for each device's losses
	moreFiles      = 10       // of connections that are closing
	moreHeap       = 16 << 20 // besides the memory of the log's index
	heapARecord    = 64
)

// obeys is how long the coordinator may take to pause the run, however short Config.Stall is.
const obeys = time.Minute

// A usage is the resource use of this process.
type usage struct {
	goroutines, files int
	heap              uint64 // live
	records           uint64
}

func use(records uint64) usage {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return usage{runtime.NumGoroutine(), openFiles(), m.HeapAlloc, records}
}

// openFiles counts file descriptors. It returns 0 if the system has no /proc/self/fd.
func openFiles() int {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return 0
	}
	return len(entries)
}

// grown says which resources have grown too much since the first check.
func (u usage) grown(first usage, devices int) error {
	heap := first.heap + moreHeap + heapARecord*(u.records-first.records)
	switch {
	case u.goroutines > first.goroutines+devices+moreGoroutines:
		return fmt.Errorf("%d goroutines, %d at first", u.goroutines, first.goroutines)
	case u.files > first.files+moreFiles:
		return fmt.Errorf("%d file descriptors, %d at first", u.files, first.files)
	case u.heap > heap:
		return fmt.Errorf("a heap of %d KiB, %d KiB at first", u.heap>>10, first.heap>>10)
	}
	return nil
}

// check ends all faults, pauses the run, and compares all devices with the log. Then check does
// everything else that needs a paused run.
func (s *soak) check(also ...func() error) {
	began := time.Now()
	s.chaos.heal()
	s.lead.excuse()
	for _, f := range append([]func() error{s.agree}, also...) {
		if err := f(); err != nil {
			s.violate("check", err)
		}
	}
	s.lead.c.Load().Resume()
	s.lead.excuse()
	s.checks++
	s.checked += time.Since(began)
}

// agree waits until all devices have the log's state, and compares the resource use.
func (s *soak) agree() error {
	reason := fmt.Sprint("check ", s.checks+1) // a status may still show the pause of the last check
	s.lead.c.Load().Pause(reason)
	if err := within(obeys, func() error {
		if now := s.lead.c.Load().Status(); now.State != report.Paused || now.Reason != reason {
			return fmt.Errorf("the coordinator is %v: %q, want paused: %q", now.State, now.Reason,
				reason)
		}
		return nil
	}); err != nil {
		return err
	}
	if err := s.lead.follow(s.witness); err != nil {
		return err
	}
	if err := s.until(s.differing); err != nil {
		return err
	}
	if s.first == (usage{}) {
		s.first = use(s.witness.N())
		return nil
	}
	return s.until(func() error { return use(s.witness.N()).grown(s.first, len(s.devices)) })
}

// differing returns an error that names a device whose state differs from the log's.
func (s *soak) differing() error {
	want := s.witness.Digest()
	for _, d := range s.devices {
		n, digest := d.client.Load().Digest()
		if n != s.witness.N() || digest != want {
			return fmt.Errorf("%s has digest %x after record %d, want the log's %x after %d", d.id,
				digest[:8], n, want[:8], s.witness.N())
		}
	}
	return nil
}

// until calls f until f returns nil. After Config.Stall until returns f's last error.
func (s *soak) until(f func() error) error { return within(s.cfg.Stall, f) }

// within is until with an explicit limit.
func within(limit time.Duration, f func() error) error {
	end := time.Now().Add(limit)
	for {
		err := f()
		if err == nil || time.Now().After(end) {
			return err
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// verify replays the whole log file while the run is paused.
func (s *soak) verify() error {
	w := replica.New(replica.Config{Run: run})
	if err := s.lead.follow(w); err != nil {
		return err
	}
	if w.N() != s.witness.N() || w.Digest() != s.witness.Digest() {
		return fmt.Errorf("log: record %d with digest %x when read whole, %d with %x when followed",
			w.N(), w.Digest(), s.witness.N(), s.witness.Digest())
	}
	return nil
}
