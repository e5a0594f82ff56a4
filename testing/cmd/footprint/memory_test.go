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

// A device holds a model of a million parameters once, or twice with a flat loss, and
// little else. Its process stays half a megabyte below what docs/devices.md promises: pages
// that a busy machine counts differ by 0.2.
func TestDeviceMemory(t *testing.T) {
	l, err := newLab()
	if err != nil {
		t.Fatal(err)
	}
	defer l.close()
	const (
		margin     = 500_000
		processors = "GOMAXPROCS=2" // each has its own memory: with 8 processors, a megabyte more
	)
	for _, m := range modes {
		t.Run(m.face, func(t *testing.T) {
			looks, err := l.measure(trial{face: m.face, dim: large, marks: []int64{20, 40},
				env: []string{processors}})
			if err != nil {
				t.Fatal(err)
			}
			for _, k := range looks {
				f := k.figure(&m, large, defaults)
				t.Logf("%s: %s (%s)", f.What, number(f.Value), f.Note)
				if f.Value > f.Most-margin {
					t.Errorf("%s bytes resident, want at most %s less 0.5 MB", number(f.Value), number(f.Most))
				}
			}
			if rounds := looks[1].Contributions - looks[0].Contributions; looks[1].Bytes-
				looks[0].Bytes > uint64(rounds)*16<<10 {
				t.Errorf("%d bytes allocated in %d rounds, want at most 16 KiB a round",
					looks[1].Bytes-looks[0].Bytes, rounds)
			}
		})
	}
}
