//go:build !race

// These tests start no goroutine, and try thousands of disks.

package filelog

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/zofl/zofl/coordinator/runlog"
	"github.com/zofl/zofl/internal/disk/disktest"
)

// story uses a log as two coordinators would, one after the other. Some appends and new members
// fail, and are tried again, also with other bytes.
func (l *fileBook) story(d *disktest.Disk) {
	*l = fileBook{t: l.t}
	l.open(d)
	l.begin()
	l.append(l.next(0))
	l.add("a", "b")
	for _, fails := range []int{1, 2} { // the write, the sync
		long := l.next(1300)
		d.Fail(fails, 1, syscall.EIO)
		l.append(long)
		l.append(long)
		d.Fail(fails, 1, syscall.EIO)
		l.append(l.next(700))
		l.append(l.next(8))
		d.Fail(fails, 1, syscall.EIO)
		l.add("long-name", "longer-name")
		l.add("c")
		d.Fail(fails, 1, syscall.EIO)
		l.retire("a")
		l.retire("b")
	}
	l.close()
	l.open(d)
	l.begin()
	l.begin()
	l.add(manyMembers("x")...)
	l.append(l.next(24))
	l.close()
}

// The power fails after each change of a story in turn. Every state that this may leave holds what
// the log acknowledged, and accepts further records.
func TestFileLogPowerCuts(t *testing.T) {
	l := &fileBook{t: t}
	states := 0
	for d := range disktest.Crashes(l.story) {
		states++
		if err := l.survive(d); err != nil {
			t.Fatalf("%v\n%s", err, d.Trace())
		}
	}
	if len(l.records) != 6 || len(l.members) != 44 || l.epoch != 3 {
		t.Errorf("%d records, %d members, epoch %d, want 6, 44 and 3", len(l.records),
			len(l.members), l.epoch)
	}
	if states < 3000 {
		t.Errorf("%d states, want thousands", states)
	}
}

// A process is killed after each change of a story in turn. Everything that the next process reads
// survives a power cut, although the killed process may not have synced it.
func TestFileLogKilled(t *testing.T) {
	l := &fileBook{t: t}
	for changes, off := 0, true; off; changes++ {
		d := disktest.New()
		d.CutAfter(changes)
		l.story(d)
		off = d.Off()
		d.Kill()
		if err := l.adopt(d); err != nil {
			t.Fatalf("killed after %d changes: %v\n%s", changes, err, d.Trace())
		}
		for state := range d.States() {
			if err := l.survive(state); err != nil {
				t.Fatalf("killed after %d changes: %v\n%s", changes, err, state.Trace())
			}
		}
	}
}

// short is a shorter story, which makes no operation fail.
func (l *fileBook) short(d *disktest.Disk) {
	*l = fileBook{t: l.t}
	for range 2 {
		l.open(d)
		l.begin()
		for range 2 {
			record := l.next(600)
			l.append(record)
			if len(l.tried) > 0 {
				l.append(record)
			}
			l.add("a", "b")
			if len(l.batches) > 0 {
				l.add("a", "b")
			}
		}
		l.close()
	}
}

// Each operation fails once. The call that needed the operation returns an error. The log works
// afterwards, and also after a power cut or a kill.
func TestFileLogFaults(t *testing.T) {
	l := &fileBook{t: t}
	for _, fault := range []error{syscall.EIO, syscall.ENOSPC} {
		for d := range disktest.Faults(fault, l.short) {
			needless := strings.Contains(d.Trace(), "mkdir "+bookDir+": "+fault.Error())
			told := slices.ContainsFunc(l.errs,
				func(err error) bool { return errors.Is(err, fault) })
			if told == d.Failing() && !needless {
				t.Errorf("errors %v\n%s", l.errs, d.Trace())
			}
			if slices.ContainsFunc(l.errs, func(err error) bool {
				return errors.Is(err,
					runlog.ErrCorrupt)
			}) {
				t.Errorf("an operation failed and nothing else: %v", l.errs)
			}
			for state := range d.States() {
				if err := l.survive(state); err != nil {
					t.Fatalf("%v\n%s", err, state.Trace())
				}
			}
			d.Kill()
			if err := l.survive(d); err != nil {
				t.Fatalf("killed: %v\n%s", err, d.Trace())
			}
		}
	}
}

// On a full disk an append fails. The append succeeds once there is room.
func TestFileLogFull(t *testing.T) {
	for room := range int64(60) {
		d := disktest.New()
		l := &fileBook{t: t}
		l.open(d)
		l.append(l.next(0))
		d.Limit(d.Used() + room)
		record := l.next(200)
		l.append(record)
		l.add("a-member-that-is-long", "b-member-that-is-long", "c-member-that-is-long")
		if len(l.errs) != 2 || !errors.Is(l.errs[0], syscall.ENOSPC) ||
			!errors.Is(l.errs[1], syscall.ENOSPC) ||
			!strings.HasPrefix(l.errs[0].Error(), "log: append: write "+bookDir+"/log: ") {
			t.Fatalf("%d bytes free: %v, want ENOSPC twice and where", room, l.errs)
		}
		if err := l.check(l.log); err != nil {
			t.Error(err)
		}
		d.Limit(d.Used() + 1000)
		l.append(record)
		l.add("d")
		for state := range d.States() {
			if err := l.survive(state); err != nil {
				t.Fatalf("%d bytes free: %v\n%s", room, err, state.Trace())
			}
		}
	}
}

// Random uses of one log follow each other. Each ends with a power cut, a kill or a fault.
func TestFileLogRandomLives(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 7))
		d, l := disktest.New(), &fileBook{t: t}
		for range 6 {
			if err := l.adopt(d); err != nil {
				t.Fatalf("seed %d: %v\n%s", seed, err, d.Trace())
			}
			if r.IntN(2) == 0 {
				d.Fail(r.IntN(30), 1+r.IntN(3), []error{syscall.EIO, syscall.ENOSPC}[r.IntN(2)])
			}
			d.CutAfter(r.IntN(40))
			l.live(r)
			if r.IntN(3) == 0 {
				d.Kill()
			} else {
				d.Crash(r)
			}
		}
	}
}

func (l *fileBook) live(r *rand.Rand) {
	for range 8 {
		switch r.IntN(4) {
		case 0:
			l.begin()
		case 1:
			l.add(manyMembers("r")[:1+r.IntN(39)]...)
			l.retire(fmt.Sprint("r-", r.IntN(4)))
		default:
			l.append(l.next(4 * r.IntN(400)))
		}
	}
}
