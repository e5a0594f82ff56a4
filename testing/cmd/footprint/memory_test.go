//go:build linux && !race

package main

import (
	"os"
	"testing"
)

// The kernel's status has the fields that parseStatus needs.
func TestMemoryOf(t *testing.T) {
	if own, err := memoryOf(os.Getpid()); err != nil || own.peak < own.now ||
		own.now < own.anon || own.anon == 0 {
		t.Errorf("of this process: %+v, %v", own, err)
	}
}

// TestDeviceMemory checks that a device holds a model of a million parameters once, or twice with a
// flat loss, and little else. The device's process stays a little below the figure in
// docs/devices.md. On a busy machine a process needs up to 0.2 MB more, so the test takes the
// smallest of three.
func TestDeviceMemory(t *testing.T) {
	l, err := newLab()
	if err != nil {
		t.Fatal(err)
	}
	defer l.close()
	const (
		margin     = 150_000
		processors = "GOMAXPROCS=2" // Go needs memory for each processor: with 8, a megabyte more
	)
	for _, m := range modes {
		t.Run(m.face, func(t *testing.T) {
			resident := func() (float64, float64) {
				looks, err := l.measure(trial{face: m.face, dim: large, marks: []int64{20, 40},
					env: []string{processors}})
				if err != nil {
					t.Fatal(err)
				}
				rounds := looks[1].Contributions - looks[0].Contributions
				bytes := looks[1].Bytes - looks[0].Bytes
				if bytes > uint64(rounds)*16<<10 {
					t.Errorf("%d bytes allocated in %d rounds, want at most 16 KiB a round", bytes, rounds)
				}
				most, limit := 0.0, 0.0
				for _, k := range looks {
					f := k.figure(&m, large, defaults)
					t.Logf("%s: %s (%s)", f.What, number(f.Value), f.Note)
					most, limit = max(most, f.Value), f.Most-margin
				}
				return most, limit
			}
			got, limit := resident()
			for range 2 {
				if got <= limit {
					return
				}
				again, _ := resident()
				got = min(got, again)
			}
			if got > limit {
				t.Errorf("%s bytes resident, want at most %s", number(got), number(limit))
			}
		})
	}
}
