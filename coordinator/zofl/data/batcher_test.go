package data

import (
	"slices"
	"testing"
)

// multiples returns the share 0, 3, 6, ... of n samples.
func multiples(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = 3 * i
	}
	return out
}

func TestPickWithoutReplacement(t *testing.T) {
	b := NewBatcher(multiples(100))
	for _, size := range []int{1, 2, 32, 99, 100, 101, 0} {
		batch := slices.Clone(b.Pick(size, uint64(size)))
		want := size
		if size == 0 || size > 100 {
			want = 100
		}
		slices.Sort(batch)
		if len(slices.Compact(batch)) != want {
			t.Errorf("size %d: got %d different samples, want %d", size, len(batch), want)
		}
		for _, i := range batch {
			if i%3 != 0 || i < 0 || i >= 300 {
				t.Errorf("size %d: sample %d is not of the share", size, i)
			}
		}
	}
}

func TestPickIsAFunctionOfItsArguments(t *testing.T) {
	fresh := func(size int, seed uint64) []int { return NewBatcher(multiples(600)).Pick(size, seed) }
	used := NewBatcher(multiples(600))
	for seed := range uint64(200) {
		size := int(seed*37) % 601
		if got, want := used.Pick(size, seed), fresh(size, seed); !slices.Equal(got, want) {
			t.Fatalf("size %d, seed %d: got %v after other calls, want %v", size, seed, got, want)
		}
	}
	if slices.Equal(fresh(32, 1), fresh(32, 2)) {
		t.Error("two seeds give the same minibatch")
	}
}

// The expected minibatches are fixed: all machines that know a share must pick the same.
func TestPickGolden(t *testing.T) {
	got := NewBatcher(sequence(600)).Pick(8, 42)
	want := []int{157, 90, 102, 193, 18, 550, 329, 514}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// Every sample must come about equally often at every position of a minibatch.
func TestPickIsUniform(t *testing.T) {
	const n, size, rounds = 20, 4, 40000
	var count [size][n]int
	b := NewBatcher(sequence(n))
	for seed := range uint64(rounds) {
		for place, i := range b.Pick(size, seed) {
			count[place][i]++
		}
	}
	for place := range count {
		for i, got := range count[place] { // 2000 +- 44
			if got < 1780 || got > 2220 {
				t.Errorf("sample %d at place %d: %d times, want 2000", i, place, got)
			}
		}
	}
}

func TestPickAllocatesNothing(t *testing.T) {
	b := NewBatcher(sequence(600))
	b.Pick(32, 0)
	var seed uint64
	if got := testing.AllocsPerRun(100, func() { seed++; b.Pick(32, seed) }); got != 0 {
		t.Errorf("%v allocations a call", got)
	}
}

// NewBatcher copies the share, so that later changes of the caller's slice have no effect.
func TestBatcherCopiesItsShare(t *testing.T) {
	share := sequence(50)
	b := NewBatcher(share)
	share[0] = -1
	if got := b.Pick(0, 1); !slices.Equal(got, sequence(50)) {
		t.Errorf("got %v", got)
	}
}

func TestBatcherPanics(t *testing.T) {
	for name, f := range map[string]func(){
		"empty share":   func() { NewBatcher(nil) },
		"negative size": func() { NewBatcher(sequence(2)).Pick(-1, 0) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			f()
		}()
	}
}

func sequence(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

func BenchmarkPick(b *testing.B) {
	batcher := NewBatcher(sequence(600))
	var seed uint64
	for b.Loop() {
		batcher.Pick(32, seed)
		seed++
	}
}
