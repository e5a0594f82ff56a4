package parallel

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
)

// Every piece runs once, on a worker that runs nothing else at that time.
func TestDo(t *testing.T) {
	for _, workers := range []int{-1, 0, 1, 2, 3, 8} {
		team := New(workers)
		if got, want := team.Workers(), max(1, workers); got != want {
			t.Errorf("New(%d) has %d workers, want %d", workers, got, want)
		}
		for _, n := range []int{0, 1, 2, 7, 100} {
			ran := make([]int, n)
			busy := make([]atomic.Int32, team.Workers())
			team.Do(n, func(worker, i int) {
				if busy[worker].Add(1) != 1 {
					t.Errorf("worker %d of %d does two pieces at once", worker, workers)
				}
				ran[i]++
				busy[worker].Add(-1)
			})
			for i, times := range ran {
				if times != 1 {
					t.Errorf("%d workers ran piece %d of %d %d times", workers, i, n, times)
				}
			}
		}
	}
}

// All workers of a team run at once, so pieces that wait for each other end.
func TestTogether(t *testing.T) {
	const workers = 3
	var all sync.WaitGroup
	all.Add(workers)
	New(workers).Do(workers, func(int, int) {
		all.Done()
		all.Wait()
	})
}

func TestNilTeam(t *testing.T) {
	var team *Team
	ran := 0
	team.Do(3, func(worker, i int) { ran += 1 + worker })
	if ran != 3 || team.Workers() != 1 {
		t.Errorf("a nil team of %d ran %d pieces, want one worker and 3", team.Workers(), ran)
	}
}

// A panic of a piece on any worker reaches the caller after all pieces have ended, and the
// team is usable afterwards.
func TestPanic(t *testing.T) {
	broken := errors.New("broken")
	for _, workers := range []int{1, 2, 4} {
		team := New(workers)
		for bad := range workers { // the worker that panics
			var inside atomic.Int32
			var all sync.WaitGroup
			all.Add(workers)
			got := caught(func() {
				team.Do(workers, func(worker, _ int) {
					inside.Add(1)
					defer inside.Add(-1)
					all.Done()
					all.Wait()
					if worker == bad {
						panic(broken)
					}
				})
			})
			if got != broken || inside.Load() != 0 {
				t.Errorf("%d workers: caught %v while %d run, want %v and none", workers, got,
					inside.Load(), broken)
			}
		}
		ran := atomic.Int32{}
		team.Do(9, func(int, int) { ran.Add(1) })
		if ran.Load() != 9 {
			t.Errorf("%d workers ran %d pieces after a panic, want 9", workers, ran.Load())
		}
	}
}

func caught(f func()) (p any) {
	defer func() { p = recover() }()
	f()
	return nil
}

// A bubble ends only after its goroutines: none outlives Do.
func TestNoGoroutineOutlivesDo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		New(4).Do(100, func(int, int) {})
		caught(func() { New(4).Do(100, func(_, i int) { panic(fmt.Sprint(i)) }) })
	})
}

func TestDoDoesNotAllocate(t *testing.T) {
	for _, workers := range []int{1, 2, 4} {
		team, sum := New(workers), new(atomic.Int64)
		body := func(_, i int) { sum.Add(int64(i)) }
		if got := testing.AllocsPerRun(1000, func() { team.Do(8, body) }); got != 0 {
			t.Errorf("%d workers: %v allocations a call", workers, got)
		}
	}
}

// BenchmarkDo measures the cost of a call beside its work.
func BenchmarkDo(b *testing.B) {
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprint("workers=", workers), func(b *testing.B) {
			team := New(workers)
			body := func(int, int) {}
			b.ReportAllocs()
			for b.Loop() {
				team.Do(workers, body)
			}
		})
	}
}
